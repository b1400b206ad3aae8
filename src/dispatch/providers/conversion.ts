// One request's way to a provider and back: as it is when both speak one dialect, converted when they do not.

import { memberOf } from '../../agents/engine-body.ts';
import { parseExactJson } from '../../lib/exact-json.ts';
import { holdsMoreValues } from '../../lib/json-values.ts';
import { fault, ok, type Result } from '../../lib/result.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/utf8.ts';
import type { Dialect } from '../../routing/endpoint.ts';
import { type ModelBody, replaceModel } from '../../routing/inference-request.ts';
import { asBuffer } from '../usage.ts';
import { answerToAnthropic } from './answer-to-anthropic.ts';
import { answerToOpenai, type ConvertedAnswer } from './answer-to-openai.ts';
import type { Json } from './fields.ts';
import { PROVIDER_NAMES } from './provider.ts';
import { requestToAnthropic } from './request-to-anthropic.ts';
import { requestToOpenai } from './request-to-openai.ts';
import type { StreamConversion } from './stream-conversion.ts';
import { StreamToAnthropic } from './stream-to-anthropic.ts';
import { StreamToOpenai } from './stream-to-openai.ts';

export interface Conversion {
  /** For the provider. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Undefined: the answer goes back as it is. */
  readonly back: WayBack | undefined;
}

export interface WayBack {
  readonly wantsStream: boolean;
  readonly answer: (document: unknown) => Result<ConvertedAnswer, string>;
  readonly stream: () => StreamConversion;
}

export interface ConversionPlan {
  /** The client's dialect, and the provider's. */
  readonly from: Dialect;
  readonly to: Dialect;
  /** As the provider calls it. */
  readonly model: string;
  /** What the provider is asked with: it goes to no client. */
  readonly secret: string;
  readonly nowMs: number;
}

/** Values of a request that is converted: reading and writing that many takes 0.2 s, in which nothing else moves. */
export const CONVERTED_VALUES_MAX = 200_000;

/** The fault is one sentence for the client. */
export function convertRequest(request: ModelBody, plan: ConversionPlan): Result<Conversion, string> {
  const { from, to, model } = plan;
  if (from === to) return ok({ body: replaceModel(request, model).body, back: undefined });
  const document = readDocument(request.body);
  if (!document.ok) return fault(`The request cannot be converted for ${PROVIDER_NAMES[to]}: it is ${document.fault}.`);
  const converted = (to === 'anthropic' ? requestToAnthropic : requestToOpenai)(document.value, model);
  if (!converted.ok) return fault(`The request cannot be converted for ${PROVIDER_NAMES[to]}: ${converted.fault}.`);
  return ok({
    body: encodeUtf8(JSON.stringify(converted.value)),
    back: wayBack(document.value, converted.value, plan),
  });
}

function readDocument(body: Uint8Array): Result<unknown, string> {
  if (holdsMoreValues(asBuffer(body), CONVERTED_VALUES_MAX))
    return fault(`JSON of more than ${CONVERTED_VALUES_MAX} values`);
  return parseExactJson(decodeUtf8(body) ?? '');
}

function wayBack(asked: unknown, { stream }: Json, { from, nowMs, secret }: ConversionPlan): WayBack {
  const wantsStream = stream === true;
  if (from === 'anthropic') {
    return { wantsStream, answer: answerToAnthropic, stream: () => new StreamToAnthropic(secret) };
  }
  const includeUsage = memberOf(memberOf(asked, 'stream_options'), 'include_usage') === true;
  return {
    wantsStream,
    answer: (document) => answerToOpenai(document, nowMs),
    stream: () => new StreamToOpenai({ nowMs, includeUsage, secret }),
  };
}
