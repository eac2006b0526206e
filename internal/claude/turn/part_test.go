package turn

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPart(t *testing.T) {
	all := []Step{{11, 1, "Collect"}, {12, 2, "Write the tests"}, {13, 3, "Publish"}, {14, 4, "Announce it"}}
	ids := func(steps []Step) (ids []int64) {
		for _, s := range steps {
			ids = append(ids, s.ID)
		}
		return ids
	}
	for message, want := range map[string][]int64{
		"Do only step 1": {11},
		"run the release skill, but only steps 1 and 2": {11, 12},
		"only steps 1, 2 and 4 please":                  {11, 12, 14},
		"only steps 2-3":                                {12, 13},
		"steps 1 to 3 only":                             {11, 12, 13},
		"just the first step, please":                   {11},
		"just the first two steps":                      {11, 12},
		"only the last step":                            {14},
		"Only #12.":                                     {12},
		"up to step 3":                                  {11, 12, 13},
		"Go through the workflow until step 2.":         {11, 12},
		"stop after step 2":                             {11, 12},
		"Stop when step 2 is done.":                     {11, 12},
		"stop after #13":                                {11, 12, 13},
		"stop before step 3":                            {11, 12},
		"do step 1 and then stop":                       {11},
		"Do step 1, then stop.":                         {11},
		"everything except step 4":                      {11, 12, 13},
		"do it all without step 3":                      {11, 12, 14},
		`only "Write the tests"`:                        {12},
		"please just publish":                           {13},
		"Please make the release. Only step 1 today":    {11},
		"nur Schritt 1":                                 {11},
		"bis Schritt 2":                                 {11, 12},
		"seulement l'étape 1":                           {11},
		"seulement étape 1":                             {11},
		"solo el paso 2":                                {12},
	} {
		asked, limited := Part(message, all)
		assert.Equal(t, want, ids(asked), message)
		assert.Equal(t, want != nil, limited, message)
	}
	for _, message := range []string{"", "do it", "just do it", "only use tabs", "start with step 1", "step 1 is done",
		"only do step 3 if the tests pass", "don't stop after step 2", "only step 9", "continue with step 2"} {
		asked, limited := Part(message, all)
		assert.False(t, limited, "%s: %v", message, asked)
	}
}
