// The closed table of engines: a name in `--engine` finds its adapter here, and an engine without one does not compile.

import type { EngineName } from '../agent-setting.ts';
import { custom } from './custom.ts';
import type { EngineAdapter } from './engine.ts';
import { infinity } from './infinity.ts';
import { llamacpp } from './llamacpp.ts';
import { ollama } from './ollama.ts';
import { sglang } from './sglang.ts';
import { vllm } from './vllm.ts';

export const ENGINES: Readonly<Record<EngineName, EngineAdapter>> = {
  vllm,
  sglang,
  ollama,
  llamacpp,
  infinity,
  custom,
};
