// How requests wait for a model that is asleep, and who is told to wake it. With cross-site redirect off nothing is held,
// and what is set for it waits for the day when a site ID is.

import type { WebhookAddress } from './hold-settings.ts';
import { isRedirectWanted } from './read-redirect.ts';
import { nameOf } from './setting.ts';
import { SETTINGS } from './settings.ts';
import type { SettingsReader } from './settings-reader.ts';

export interface HoldConfig {
  /** Whole milliseconds, 0 to 3,600,000. */
  readonly budgetMs: number;
  /** Requests for one model, 1 to 100,000. */
  readonly maxPerModel: number;
  /** Bodies of all of them, 1 to 1,099,511,627,776. */
  readonly maxBytes: number;
  /** Undefined: nobody is called. */
  readonly webhook: (WebhookAddress & { readonly secret: string | undefined }) | undefined;
}

/** Of every secret that the router signs with. */
const SECRET_MIN_BYTES = 32;

export function readHold(reader: SettingsReader, maxRequestBytes: number): HoldConfig {
  const maxBytes = reader.read(SETTINGS.wakeHoldMaxBytes);
  // An encoded body is held as sent and decoded.
  if (isRedirectWanted(reader) && maxBytes < 2 * maxRequestBytes) {
    const rule = `less than twice ${nameOf(SETTINGS.maxRequestBytes)}: the largest bodies are never held`;
    reader.warn(nameOf(SETTINGS.wakeHoldMaxBytes), rule);
  }
  return {
    budgetMs: reader.read(SETTINGS.wakeHoldBudget),
    maxPerModel: reader.read(SETTINGS.wakeHoldMax),
    maxBytes,
    webhook: readWebhook(reader),
  };
}

function readWebhook(reader: SettingsReader): HoldConfig['webhook'] {
  const { wakeWebhookUrl, wakeWebhookSecretFile } = SETTINGS;
  const address = reader.readOptional(wakeWebhookUrl);
  const secret = readSecret(reader);
  const hasSecret = reader.given(wakeWebhookSecretFile) !== undefined;
  if (reader.given(wakeWebhookUrl) === undefined) {
    if (hasSecret) reader.refuse(wakeWebhookUrl, `required with ${nameOf(wakeWebhookSecretFile)}`);
  } else if (!hasSecret) {
    reader.warn(nameOf(wakeWebhookUrl), `calls are not signed without ${nameOf(wakeWebhookSecretFile)}`);
  }
  return address === undefined ? undefined : { ...address, secret };
}

/** The file's text without blanks at its ends: editors put a line feed there. */
function readSecret(reader: SettingsReader): string | undefined {
  const setting = SETTINGS.wakeWebhookSecretFile;
  const path = reader.readOptional(setting);
  const secret = path === undefined ? undefined : reader.readFile(setting, path, { isPrivate: true })?.trim();
  if (path === undefined || secret === undefined) return undefined;
  if (new TextEncoder().encode(secret).length >= SECRET_MIN_BYTES) return secret;
  reader.refuseFile(setting, `holds a secret of less than ${SECRET_MIN_BYTES} bytes`, path);
  return undefined;
}
