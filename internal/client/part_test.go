package client

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPart(t *testing.T) {
	all := []Step{{11, 1}, {12, 2}, {13, 3}, {14, 4}}
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
		"Only #12.":                                     {12},
		"up to step 3":                                  {11, 12, 13},
		"Go through the workflow until step 2.":         {11, 12},
		"stop after step 2":                             {11, 12},
		"stop after #13":                                {11, 12, 13},
		"stop before step 3":                            {11, 12},
		"Please make the release. Only step 1 today":    {11},
		"make the release, but do only step 1":          {11},
		"only #11 and #13":                              {11, 13},
		"stop after task 2":                             {11, 12},
	} {
		asked, limited := Part(message, all)
		assert.Equal(t, want, ids(asked), message)
		assert.Equal(t, want != nil, limited, message)
	}
	for _, message := range []string{"", "do it", "just do it", "only use tabs", "start with step 1", "step 1 is done",
		"only do step 3 if the tests pass", "don't stop after step 2", "only step 9", "continue with step 2",
		"just 2 files", "only `step 1`", "up to 3 attempts", "only 2 to 3 steps"} {
		asked, limited := Part(message, all)
		assert.False(t, limited, "%s: %v", message, asked)
	}
}
