// Runs hooks with the hook system of Gemini CLI's core. It reads cases, one JSON object a
// line, and prints the result of each. The argument is the directory of the package.
import { createInterface } from 'node:readline';
import { join } from 'node:path';

const core = join(process.argv[2], 'dist/src');
const { HookSystem } = await import(join(core, 'hooks/hookSystem.js'));

const show = process.stdout.write.bind(process.stdout);
process.stdout.write = () => true; // the package logs on both streams
process.stderr.write = () => true;

// config returns the part of the program's configuration that the hook system reads.
function config(c) {
  const { enabled, disabled, notifications, ...hooks } = c.settings.hooks ?? {};
  const found = {
    isTrustedFolder: () => true,
    getProjectHooks: () => undefined,
    getHooks: () => hooks,
    getExtensions: () => [],
    getDisabledHooks: () => [...(c.settings.hooksConfig?.disabled ?? []), ...(disabled ?? [])],
    getProjectRoot: () => c.cwd,
    getWorkingDir: () => c.cwd,
    getSessionId: () => 's',
    sanitizationConfig: {},
    storage: { getPlansDir: () => join(c.cwd, 'plans') },
    getTelemetryEnabled: () => false,
    getTelemetryLogPromptsEnabled: () => false,
    getUsageStatisticsEnabled: () => false,
    getDebugMode: () => false,
  };
  found.config = found;
  return found;
}

async function fire(system, c) {
  const i = c.input, handler = system.getEventHandler();
  switch (c.event) {
    case 'BeforeTool': return handler.fireBeforeToolEvent(i.tool_name, i.tool_input);
    case 'AfterTool': return handler.fireAfterToolEvent(i.tool_name, i.tool_input, i.tool_response);
    case 'BeforeAgent': return handler.fireBeforeAgentEvent(i.prompt);
    case 'AfterAgent': return handler.fireAfterAgentEvent(i.prompt, i.prompt_response, i.stop_hook_active);
    case 'SessionStart': return handler.fireSessionStartEvent(i.source);
    case 'SessionEnd': return handler.fireSessionEndEvent(i.reason);
    case 'PreCompress': return handler.firePreCompressEvent(i.trigger);
    case 'Notification': return handler.fireNotificationEvent(i.notification_type, i.message, i.details);
    case 'BeforeModel': return handler.fireBeforeModelEvent(i.sdk_request);
    case 'AfterModel': return handler.fireAfterModelEvent(i.sdk_request, i.sdk_response);
    case 'BeforeToolSelection': return handler.fireBeforeToolSelectionEvent(i.sdk_request);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const c = JSON.parse(line);
  process.env.FIDELITY_RAN = c.ran;
  const system = new HookSystem(config(c));
  await system.initialize();
  const { finalOutput: said, errors } = await fire(system, c);
  const block = said?.getBlockingError() ?? { blocked: false };
  show(JSON.stringify({
    name: c.name,
    policy: { // in the form in which "fsmtx hooks fire" prints it
      stop: said?.shouldStopExecution() ?? false,
      blocking: block.blocked,
      verdict: said?.isAskDecision() ? 'ask' : '',
      reason: said?.getEffectiveReason() ?? '',
      additionalContext: said?.getAdditionalContext() ?? '',
      systemMessage: said?.systemMessage ?? '',
      toolInput: said?.getModifiedToolInput?.() ?? null,
      modifiedRequest: said?.hookSpecificOutput?.llm_request ?? null,
      syntheticResponse: block.blocked ? (said?.getSyntheticResponse?.() ?? null) : null,
      modifiedResponse: said?.getModifiedResponse?.() ?? null,
      toolConfig: said?.hookSpecificOutput?.toolConfig ?? null,
      tailToolCall: said?.getTailToolCallRequest?.() ?? null,
      clearContext: said?.shouldClearContext?.() ?? false,
    },
    errors: errors.map(String),
  }) + '\n');
}
process.exit(0);
