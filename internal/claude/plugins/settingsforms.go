package plugins

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// The client ignores a settings file of the user or the project as a whole if a member has a wrong
// form, whatever the member is for: null is one. It ignores only the member where its schema says so,
// as for theme and effortLevel, and it accepts unknown members (read in the schema of 2.1.329 and
// measured with it, fact 162). Members of objects are looked into where people write them.

// CheckSettings returns the mistake for which the client ignores the content of a settings file, an
// error with line and column, and nil if it reads the file. An organisation's file is kept without the
// member.
func CheckSettings(data []byte) error {
	o, err := parseSettings(data)
	if err != nil {
		return err
	}
	return o.checkSettings()
}

// parseSettings returns the members of a settings file. The client accepts one byte order mark and a
// blank file (fact 97).
func parseSettings(data []byte) (object, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(data)) == 0 {
		return object{}, nil
	}
	root, err := parse(data)
	if err != nil {
		return object{}, err
	}
	return root.object()
}

func (o object) checkSettings() error {
	for _, name := range o.names {
		v := o.members[name]
		if v.Kind() == 'n' && mayBeNull(name) {
			continue
		}
		if f := settingsForm(name); !f.has(v) {
			return v.mistake("%q: %s; the client ignores the whole file", name, wanted(v, f.want))
		}
		if f := entryForm(name); f.has != nil {
			if err := v.checkEntries(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayBeNull reports whether the client takes null as the absence of the member: it does for restrictions
// that an organisation can set.
func mayBeNull(name string) bool {
	return slices.Contains([]string{"allowManagedHooksOnly", "allowManagedMcpServersOnly", "allowManagedPermissionRulesOnly",
		"blockedMarketplaces", "disableAgentView", "disableArtifact", "disableAutoMode", "disableBundledSkills",
		"disableClaudeAiConnectors", "disableCommandPluginSources", "disableDeepLinkRegistration", "disableRemoteControl",
		"disableSideloadFlags", "disableSkillShellExecution", "disableWindowsBashCommandSplit", "disableWorkflows",
		"enforceAvailableModels", "fastModePerSessionOptIn", "isolatePeerMachines", "strictKnownMarketplaces"}, name)
}

// checkEntries checks the values of an object that maps names to values.
func (v value) checkEntries(f form) error {
	o, err := v.object()
	if err != nil {
		return err
	}
	for _, name := range o.names {
		if entry := o.members[name]; !f.has(entry) {
			return entry.mistake("%q: %q: %s; the client ignores the whole file", f.name, name, wanted(entry, f.want))
		}
	}
	return nil
}

// wanted says what a value is, if that tells it from what is wanted, and what is wanted.
func wanted(v value, want string) string {
	if kind := jsonx.KindName(v.Kind()); !strings.HasPrefix(want, kind) {
		return "got " + kind + ", want " + want
	}
	return "want " + want
}

// settingsForm returns the form that a member of a settings file must have.
func settingsForm(name string) form {
	switch name {
	case "allowAllClaudeAiMcps", "allowClaudeInChromeWithManagedMcp", "allowManagedHooksOnly", "allowManagedMcpServersOnly",
		"allowManagedPermissionRulesOnly", "allowNestedModelAccessUnderForceLogin", "alwaysThinkingEnabled", "autoCompactEnabled",
		"autoContinueAtUsageLimit", "autoDreamEnabled", "autoMemoryEnabled", "autoScrollEnabled", "autoUploadSessions",
		"awaySummaryEnabled", "axScreenReader", "bashEditDiffEnabled", "channelsEnabled", "clawdFileProgressEnabled",
		"disableAgentView", "disableAllHooks", "disableArtifact", "disableBundledSkills", "disableClaudeAiConnectors",
		"disableCommandPluginSources", "disableRemoteControl", "disableReplyCheck", "disableSideloadFlags",
		"disableSkillShellExecution", "disableWindowsBashCommandSplit", "disableWorkflows", "doneMeansMerged",
		"emojiCompletionEnabled", "enableAllProjectMcpServers", "enableArtifact", "enableWorkflows", "enforceAvailableModels",
		"fastMode", "fastModePerSessionOptIn", "fileCheckpointingEnabled", "forceRemoteSettingsRefresh", "idleCompaction",
		"includeCoAuthoredBy", "includeGitInstructions", "inputNeededNotifEnabled", "agentPushNotifEnabled", "isolatePeerMachines",
		"precomputeCompactionEnabled", "prefersReducedMotion", "promptSuggestionEnabled", "remoteControlAtStartup",
		"respectGitignore", "respondToBashCommands", "responseComparisonEnabled", "showClearContextOnPlanAccept",
		"showMessageTimestamps", "showThinkingSummaries", "showTurnDuration", "skipAutoPermissionPrompt",
		"skipDangerousModePermissionPrompt", "skipWebFetchPreflight", "skipWorkflowUsageWarning", "spinnerTipsEnabled",
		"switchModelsOnFlag", "syncClaudeAiPlugins", "syncClaudeAiSkills", "syntaxHighlightingDisabled",
		"terminalProgressBarEnabled", "terminalTitleFromRename", "todoFeatureEnabled", "totalTokensReminderAfterUserTurn",
		"useAutoModeDuringPlan", "verbose", "voiceEnabled", "wheelScrollAccelerationEnabled", "workflowKeywordTriggerEnabled",
		"wslInheritsWindowsSettings":
		return form{name, isBool, "true or false"}
	case "$schema", "advisorModel", "agent", "apiKeyHelper", "attributionProject", "autoMemoryDirectory", "awsAuthRefresh",
		"awsCredentialExport", "claudeMd", "gcpAuthRefresh", "language", "minimumVersion", "model", "otelHeadersHelper",
		"outputStyle", "plansDirectory", "pluginTrustMessage", "prUrlTemplate", "processWrapper", "proxyAuthHelper",
		"requiredMaximumVersion", "requiredMinimumVersion", "timeFormat", "timeZone":
		return form{name, isText, "a string"}
	case "allowedHttpHookUrls", "availableModels", "claudeMdExcludes", "companyAnnouncements", "deniedModels", "fallbackModel",
		"httpHookAllowedEnvVars", "pluginSuggestionMarketplaces":
		return form{name, isArrayOf(isText), "an array of strings"}
	case "enabledMcpjsonServers", "disabledMcpjsonServers":
		return form{name, func(v value) bool { return isArrayOf(isText)(v) || isServerName(v) }, "an array of names"}
	case "cleanupPeriodDays", "skillListingMaxDescChars", "totalTokensReminderBudget":
		return form{name, isWhole(1), "a whole number from 1"}
	case "desktopSessionCleanupPeriodDays":
		return form{name, isWhole(0), "a whole number from 0"}
	case "feedbackSurveyRate":
		return form{name, isFraction(0), "a number from 0 to 1"}
	case "skillListingBudgetFraction":
		return form{name, isFraction(math.SmallestNonzeroFloat64), "a number above 0, at most 1"}
	case "allowedChannelPlugins":
		return form{name, isKind('['), "an array"}
	case "allowedMarketplaces", "blockedMarketplaces", "strictKnownMarketplaces":
		return form{name, isArrayOf(isKind('{')), "an array of objects"}
	case "env", "pluginConfigs", "modelOverrides", "skillOverrides", "enabledPlugins":
		return form{name, isKind('{'), "an object"}
	case "hooks":
		return form{name, isHooksOfSettings, "an object whose hooks of PreToolUse and PermissionRequest can run"}
	case "PreToolUse", "PermissionRequest":
		return form{name, isEmptyHere, `nothing: hooks stand under "hooks"`}
	}
	if f := choiceForm(name); f.has != nil {
		return f
	}
	if f := objectForm(name); f.has != nil {
		return f
	}
	return form{name, func(v value) bool { return !holdsGuards(v) }, `no hooks of PreToolUse or PermissionRequest: hooks stand under "hooks"`}
}

// choiceForm returns the form of a member that is one of several words.
func choiceForm(name string) form {
	words := map[string][]string{
		"autoUpdatesChannel":          {"latest", "stable", "rc"},
		"daemonColdStart":             {"transient", "ask"},
		"defaultShell":                {"bash", "powershell"},
		"defaultView":                 {"chat", "transcript"},
		"disableAutoMode":             {"disable"},
		"disableDeepLinkRegistration": {"disable"},
		"feedbackDrafts":              {"notify", "quiet", "off"},
		"managedSourcesBehavior":      {"first-wins", "merge"},
		"parentSettingsBehavior":      {"first-wins", "merge"},
		"totalTokensReminder":         {"off", "infinite", "fixed", "countdown", "padded-countdown"},
		"tui":                         {"default", "fullscreen"},
		"workflowSizeGuideline":       {"unrestricted", "small", "medium", "large"},
	}[name]
	if words == nil {
		return form{}
	}
	return form{name, isOneOf(words...), `"` + strings.Join(words, `" or "`) + `"`}
}

// objectForm returns the form of a member that is an object with known members.
func objectForm(name string) form {
	optional := func(has func(value) bool, names ...string) func(object) bool {
		return func(o object) bool {
			return !slices.ContainsFunc(names, func(name string) bool { v, ok := o.members[name]; return ok && !has(v) })
		}
	}
	all := func(checks ...func(object) bool) func(value) bool {
		return func(v value) bool {
			o, err := v.object()
			return err == nil && !slices.ContainsFunc(checks, func(ok func(object) bool) bool { return !ok(o) })
		}
	}
	isCommand := func(o object) bool { return textOf(o.members["type"]) == "command" && isText(o.members["command"]) }
	switch name {
	case "attribution":
		has := all(optional(isText, "commit", "pr"), optional(isBool, "sessionUrl"))
		return form{name, func(v value) bool { return isBool(v) || has(v) }, `true, false, or an object with the strings "commit" and "pr"`}
	case "autoMode":
		return form{name, all(optional(isArrayOf(isText), "allow", "soft_deny", "hard_deny", "environment"), optional(isBool,
			"classifyAllShell")),
			"an object of arrays of strings"}
	case "breakReminder":
		return form{name, all(optional(isBool, "enabled"), optional(isWhole(1), "intervalMinutes", "breakThresholdMinutes"), optional(isText,
			"message")),
			"an object whose members have the types of the client's schema"}
	case "fileSuggestion":
		return form{name, all(isCommand), `an object with "type": "command" and "command"`}
	case "forceLoginOrgUUID":
		return form{name, oneOrMore(isText), "a string, or an array of strings"}
	case "permissions":
		return form{name, all(optional(isKind('['), "allow", "deny", "ask"), optional(isArrayOf(isText), "additionalDirectories"),
			optional(isOneOf("acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan", "manual"), "defaultMode"),
			optional(isOneOf("disable"), "disableBypassPermissionsMode", "disableAutoMode"),
			optional(isBool, "blockReadsOutsideWorkingDirectories", "blockFileToolReadsOutsideWorkingDirectories",
				"blockWritesOutsideWorkingDirectories", "denyInsteadOfPrompting")),
			`an object with arrays of rules ("allow", "ask", "deny") and a known "defaultMode"`}
	case "quietHours":
		return form{name, all(optional(isBool, "enabled"), optional(isTime, "start", "end")), `an object with times such as "22:00"`}
	case "remote":
		return form{name, all(optional(isText, "defaultEnvironmentId")), "an object"}
	case "sandbox":
		return form{name, all(optional(isBool, "enabled", "failIfUnavailable", "autoAllowBashIfSandboxed", "allowUnsandboxedCommands",
			"enableWeakerNestedSandbox", "allowNestedUserNamespaces", "enableWeakerNetworkIsolation", "allowAppleEvents"),
			optional(isArrayOf(isText), "excludedCommands"), optional(isKind('{'), "network", "filesystem", "credentials", "windows")),
			"an object whose members have the types of the client's schema"}
	case "spinnerVerbs":
		return form{name, all(func(o object) bool {
			return isOneOf("append", "replace")(o.members["mode"]) && isArrayOf(isText)(o.members["verbs"])
		}), `an object with "mode" ("append" or "replace") and "verbs"`}
	case "sshConfigs":
		return form{name, isArrayOf(all(func(o object) bool {
			return isText(o.members["id"]) && isText(o.members["name"]) && isText(o.members["sshHost"])
		})), `an array of objects with "id", "name" and "sshHost"`}
	case "statusLine":
		return form{name, all(isCommand, optional(isKind('0'), "padding"), optional(isBool, "hideVimModeIndicator")),
			`an object with "type": "command" and "command"`}
	case "voice":
		return form{name, all(optional(isBool, "enabled", "autoSubmit"), optional(isOneOf("hold", "tap"), "mode")),
			"an object whose members have the types of the client's schema"}
	case "worktree":
		return form{name, all(optional(isArrayOf(isText), "symlinkDirectories", "sparsePaths"), optional(isOneOf("fresh", "head"), "baseRef")),
			"an object whose members have the types of the client's schema"}
	}
	return form{}
}

// entryForm returns the form of the values of a member that maps names to values, without a function if
// any value will do.
func entryForm(name string) form {
	switch name {
	case "modelOverrides":
		return form{name, isText, "a string"}
	case "skillOverrides":
		return form{name, isOneOf(OverrideOn, OverrideNameOnly, OverrideUserOnly, OverrideOff),
			`"on", "name-only", "user-invocable-only" or "off"`}
	case "enabledPlugins":
		return form{name, func(v value) bool { return isBool(v) || isArrayOf(isText)(v) }, "true or false"}
	case "pluginConfigs":
		return form{name, func(v value) bool {
			o, err := v.object()
			options, servers := o.members["options"], o.members["mcpServers"]
			return err == nil && (len(options.Value) == 0 || isObjectOf(isOptionValue)(options)) &&
				(len(servers.Value) == 0 || servers.Kind() == '{')
		}, `an object with "options"`}
	}
	return form{}
}

func isOptionValue(v value) bool {
	return isText(v) || isBool(v) || v.Kind() == '0' || isArrayOf(isText)(v)
}

// isHooksOfSettings is isHooks for a settings file, in which "hooks" may have any other type than an
// object: the client ignores it then. In an array, hooks that could forbid a call count.
func isHooksOfSettings(v value) bool {
	switch v.Kind() {
	case '{':
	case '[':
		items, _ := v.items()
		return !slices.ContainsFunc(items, isKind('{'))
	default:
		return true
	}
	o, _ := v.object()
	if o.members["hooks"].Kind() == '[' {
		return false // one matcher in place of the events
	}
	return !slices.ContainsFunc([]string{"PreToolUse", "PermissionRequest"}, func(event string) bool {
		groups, ok := o.members[event]
		return ok && groups.Kind() != 'n' && !isArrayOf(isGroup)(groups)
	})
}

// holdsGuards reports whether a value that is not "hooks" has hooks that could forbid a call.
func holdsGuards(v value) bool {
	if v.Kind() != '{' {
		return false
	}
	o, err := v.object()
	return err == nil && (!isEmptyHere(o.members["PreToolUse"]) || !isEmptyHere(o.members["PermissionRequest"]))
}

// isEmptyHere reports whether a value has no hooks: it is absent, null or an empty array.
func isEmptyHere(v value) bool {
	if v.Kind() != '[' {
		return v.absent()
	}
	items, err := v.items()
	return err == nil && len(items) == 0
}

func isBool(v value) bool { return v.Kind() == 't' || v.Kind() == 'f' }
func isText(v value) bool { return v.Kind() == '"' }

func isKind(kind jsontext.Kind) func(value) bool {
	return func(v value) bool { return v.Kind() == kind }
}

func isOneOf(words ...string) func(value) bool {
	return func(v value) bool { return slices.Contains(words, textOf(v)) }
}

func isWhole(least float64) func(value) bool {
	return func(v value) bool {
		n, err := strconv.ParseFloat(string(v.Value), 64)
		return v.Kind() == '0' && err == nil && n >= least && n == math.Trunc(n)
	}
}

func isFraction(least float64) func(value) bool {
	return func(v value) bool {
		n, err := strconv.ParseFloat(string(v.Value), 64)
		return v.Kind() == '0' && err == nil && n >= least && n <= 1
	}
}

// isServerName reports whether the value is the name of one server, which the client accepts for a list.
func isServerName(v value) bool {
	name := textOf(v)
	return name != "" && strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// isTime reports whether the value is a time such as "22:00" or "7:30".
func isTime(v value) bool {
	hour, minute, ok := strings.Cut(textOf(v), ":")
	h, err := strconv.Atoi(hour)
	m, err2 := strconv.Atoi(minute)
	return ok && err == nil && err2 == nil && len(minute) == 2 && len(hour) <= 2 && h >= 0 && h < 24 && m >= 0 && m < 60
}
