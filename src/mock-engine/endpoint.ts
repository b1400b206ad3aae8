// What every inference endpoint of the engine is made of: a path, the shape of its body, and its answer.

import * as v from 'valibot';
import { fault, ok, type Result } from '../lib/result.ts';
import type { Turn } from './running-request.ts';

/** An endpoint behind its parser; its answer may take as long as the engine's pace wants. */
export interface EngineEndpoint {
  readonly path: string;
  /** The fault is the first broken rule, with the path of the field. */
  readonly read: (body: string) => Result<ReadBody, string>;
}

/** A body that has its shape: the model it asks for, and what answers it if the engine serves that model. */
interface ReadBody {
  readonly model: string;
  readonly answer: (turn: Turn) => Promise<Response>;
}

type BodySchema = v.GenericSchema<unknown, { readonly model: string }>;

/** Joins a path, a body's schema and its answer, so that no answer is ever given a body that it did not describe. */
export function endpoint<Schema extends BodySchema>(
  path: string,
  schema: Schema,
  answer: (ask: v.InferOutput<Schema>, turn: Turn) => Promise<Response>,
): EngineEndpoint {
  return {
    path,
    read: (body) => {
      const ask = v.safeParse(schema, parseJson(body));
      if (!ask.success) return fault(describe(ask.issues[0]));
      return ok({ model: ask.output.model, answer: (turn) => answer(ask.output, turn) });
    },
  };
}

/** A count of tokens or documents, in the range from `least` to `most`. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER) {
  return v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));
}

/** Undefined, which no schema takes, for what is not JSON. */
function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function describe(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue);
  if (path !== null) return `${path}: ${issue.message}`;
  return issue.input === undefined ? 'body: not JSON' : `body: ${issue.message}`;
}
