package legal

import (
	"strconv"

	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// question is a heading of the help text with its answer.
type question struct {
	ID, Heading string
	Blocks      []block
}

// questions splits the help text at its headings. Text before the first one has none, and is
// left out.
func questions(text []block) (list []question) {
	for _, b := range text {
		switch last := len(list) - 1; {
		case b.Heading != "":
			list = append(list, question{ID: "q" + strconv.Itoa(len(list)+1), Heading: b.Heading})
		case last >= 0:
			list[last].Blocks = append(list[last].Blocks, b)
		}
	}
	return list
}

func (h *Handler) showHelp(req *ui.Request, l legalPage) error {
	return h.templates.Render(req, ui.View{
		Name: "help", Title: l.title, Section: l.path(req.Language), Public: "help.description",
		Data: struct{ Questions []question }{questions(h.texts[l.path(req.Language)[1:]])},
	})
}
