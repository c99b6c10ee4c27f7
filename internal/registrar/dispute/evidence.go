package dispute

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"time"
)

// File is one file of the evidence. A value is written as JSON, bytes as they are.
type File struct {
	Name  string
	Value any
}

// WriteEvidence returns a ZIP archive of files, dated at.
func WriteEvidence(files []File, at time.Time) ([]byte, error) {
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for _, file := range files {
		content, plain := file.Value.([]byte)
		if !plain {
			var err error
			if content, err = json.MarshalIndent(file.Value, "", "  "); err != nil {
				return nil, err
			}
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: file.Name, Method: zip.Deflate, Modified: at.UTC()})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return archive.Bytes(), err
}
