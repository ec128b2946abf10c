package api

import (
	"context"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
)

// ConfigReload is the result of reloading the configuration.
type ConfigReload struct {
	Applied         bool           `doc:"Whether a change took effect; false for a dry run." json:"applied"`
	Changes         []ConfigChange `doc:"How the files differ from the configuration in use." json:"changes"`
	RestartRequired bool           `doc:"Whether a change takes effect only after a restart." json:"restart_required"`
	Warnings        []string       `doc:"Possible problems in the files, although they are valid." json:"warnings"`
}

// ConfigChange is one setting that differs.
type ConfigChange struct {
	Path        string  `json:"path"`
	Change      string  `enum:"added,changed,removed" json:"change"`
	Old         *string `doc:"Secrets are hidden. Null if the setting was added." json:"old"`
	New         *string `doc:"Secrets are hidden. Null if the setting was removed." json:"new"`
	TakesEffect string  `doc:"When the change takes effect; a setting that needs a restart keeps its value until then." enum:"new sessions,at once,restart" json:"takes_effect"`
}

type reloadInput struct {
	DryRun string `doc:"Validate the files and return the differences without applying them." default:"false" enum:"true,false" query:"dry_run"`
}

type reloadOutput struct{ Body ConfigReload }

func (s *system) reloadConfig(ctx context.Context, in *reloadInput) (*reloadOutput, error) {
	err := checkParameters(in)
	if err != nil {
		return nil, err
	}

	if s.reload == nil {
		return nil, tarsy.Errorf(tarsy.CodeConflict, "This server has no configuration files to reload.")
	}

	dryRun := in.DryRun == "true"
	if dryRun {
		audit.Unchanged(ctx)
	}

	result, err := s.reload(ctx, dryRun, callerOf(ctx).author)
	if err != nil {
		return nil, err
	}

	result.Changes = append([]ConfigChange{}, result.Changes...)
	result.Warnings = append([]string{}, result.Warnings...)

	return &reloadOutput{Body: result}, nil
}
