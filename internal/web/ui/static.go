package ui

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io/fs"
	"mime"
	"net/http"
	"path"

	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

//go:embed assets
var assets embed.FS

type asset struct {
	body        []byte
	contentType []string
	version     string // changes with the content, so that browsers may cache the file
}

func loadAssets() (map[string]asset, error) {
	entries, err := fs.ReadDir(assets, "assets")
	if err != nil {
		return nil, err
	}
	types := map[string]string{
		".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".ico": "image/x-icon", ".png": "image/png",
		".webmanifest": "application/manifest+json",
	}
	loaded := make(map[string]asset)
	for _, entry := range entries {
		body, err := assets.ReadFile("assets/" + entry.Name())
		if err != nil {
			return nil, err
		}
		contentType, ok := types[path.Ext(entry.Name())]
		if !ok {
			contentType = mime.TypeByExtension(path.Ext(entry.Name()))
		}
		sum := sha256.Sum256(body)
		loaded[entry.Name()] = asset{
			body: body, contentType: []string{contentType}, version: base64.RawURLEncoding.EncodeToString(sum[:9]),
		}
	}
	return loaded, nil
}

func (f *Frame) assetPath(name string) string {
	return StaticPath + name + "?v=" + f.static[name].version
}

// Routes lists the assets.
func (f *Frame) Routes() []httpjson.Route {
	return []httpjson.Route{
		{Method: http.MethodGet, Path: StaticPath + "{file}", Handler: f.serveStatic},
		{Method: http.MethodGet, Path: "/favicon.ico", Handler: f.wellKnownAsset("favicon.ico")},
		{Method: http.MethodGet, Path: "/manifest.webmanifest", Handler: f.wellKnownAsset("manifest.webmanifest")},
	}
}

// wellKnownAsset serves an asset at a path without a version; browsers keep it for a day.
func (f *Frame) wellKnownAsset(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		file := f.static[name]
		f.setSecurityHeaders(w.Header())
		w.Header().Set("Cache-Control", "public, max-age=86400")
		httpjson.WriteBytes(w, http.StatusOK, file.contentType, file.body)
	}
}

// serveStatic serves the assets. A file is cached forever under its current version; another
// version (requested by a page of another release during an update) is served but not
// cached.
func (f *Frame) serveStatic(w http.ResponseWriter, r *http.Request) {
	file, ok := f.static[r.PathValue("file")]
	if !ok {
		f.NotFound(w, r)
		return
	}
	f.setSecurityHeaders(w.Header())
	if r.URL.Query().Get("v") == file.version {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	httpjson.WriteBytes(w, http.StatusOK, file.contentType, file.body)
}
