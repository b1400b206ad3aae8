// The rows of the settings table that say how requests find their agents.

import { parsePath, wholeWithin } from './parse-value.ts';
import type { Setting } from './setting.ts';

export const ROUTING_SETTINGS = {
  queueDepth: {
    group: 'Routing',
    flag: '--queue-depth',
    variable: 'HIVENET_ROUTER_QUEUE_DEPTH',
    argument: 'NUMBER',
    fallback: '30',
    parse: wholeWithin(0, 100_000),
    example: '30',
    help:
      'Requests for one model that may wait while all its agents are full, 0 to 100000; they are served in the order ' +
      'in which they came, within `--request-timeout`. One more, and with 0 each, is a 503',
  },
  maxTriesPerStep: {
    group: 'Routing',
    flag: '--max-tries-per-step',
    variable: 'HIVENET_ROUTER_MAX_TRIES_PER_STEP',
    argument: 'NUMBER',
    fallback: '3',
    parse: wholeWithin(1, 100),
    example: '3',
    help:
      'Failed tries that end a step of a policy which does not say itself, 1 to 100; without a policy, those after which ' +
      'the client is told',
  },
  modelAliasesFile: {
    group: 'Routing',
    flag: '--model-aliases-file',
    variable: 'HIVENET_ROUTER_MODEL_ALIASES_FILE',
    argument: 'FILE',
    parse: parsePath,
    example: '/etc/hivenet-router/model-aliases.yaml',
    help: 'YAML that maps a name to one model or to a list of models; SIGHUP reads it again',
  },
  policyFile: {
    group: 'Routing',
    flag: '--policy-file',
    variable: 'HIVENET_ROUTER_POLICY_FILE',
    argument: 'FILE',
    parse: parsePath,
    example: '/etc/hivenet-router/policy.yaml',
    help: 'YAML with the routing policy of every model that has none of its own; SIGHUP reads it again',
  },
  policyModelDir: {
    group: 'Routing',
    flag: '--policy-model-dir',
    variable: 'HIVENET_ROUTER_POLICY_MODEL_DIR',
    argument: 'DIRECTORY',
    parse: parsePath,
    example: '/etc/hivenet-router/policies',
    help:
      'Directory of YAML files, each a policy for the models that it lists; `_default.yaml` in it beats `--policy-file`. ' +
      'SIGHUP reads all of it again',
  },
} as const satisfies Readonly<Record<string, Setting<unknown>>>;
