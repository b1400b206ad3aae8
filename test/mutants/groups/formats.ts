// The formats that a sibling map is written in: strict JSON, Go durations and RFC 3339 times (D-57, D-65, D-66).

import { type Mutant, mutantsOf } from '../mutant.ts';

const JSON_READER: readonly Mutant[] = mutantsOf('src/lib/strict-json.ts', ['test/lib/strict-json.test.ts'], {
  'a byte order mark is passed over': ["if (tokens.peek() === '\\ufeff')", 'if (false)'],
  'data may follow a document': ["this.#tokens.peek() === '' ?", 'true ?'],
  'the last of two members of one name counts': ['if (members.has(name))', 'if (false)'],
});

const JSON_TOKENS: readonly Mutant[] = mutantsOf('src/lib/json-tokens.ts', ['test/lib/strict-json.test.ts'], {
  'a number may begin with 0': ['(?:0|[1-9][0-9]{0,1023})', '(?:[0-9]+)'],
  'a string may hold control characters': ['code >= 0x20', 'code >= 0x00'],
  'a string may hold a lone surrogate': ['decoded.isWellFormed() ?', 'true ?'],
  'any character may be escaped': ['["\\\\/bfnrt]', '.'],
});

const DURATIONS: readonly Mutant[] = mutantsOf('src/lib/duration.ts', ['test/lib/duration.test.ts'], {
  'a duration needs no unit': [
    "if (unitName === '') return fault('duration without a unit');",
    "if (unitName === '') return ok(BigInt(whole));",
  ],
  'a bare 0 is none': ["if (unsigned === '0') return ok(0n);", ''],
  'nothing is a duration': ["if (unsigned === '') return fault('not a duration');", ''],
  'a unit needs no number': ["if (whole === '' && fraction === '') return", 'if (false) return'],
  'a duration has one term': ['magnitude += term.value', 'magnitude = term.value'],
  'a day is 24 h': [
    "['h', 3_600_000n * NS_PER_MS],",
    "['h', 3_600_000n * NS_PER_MS],\n  ['d', 86_400_000n * NS_PER_MS],",
  ],
  'a duration may be 2^63 ns': [' || (magnitude === MAGNITUDE_MAX && !isNegative)', ''],
  'a duration of -2^63 ns is refused': ['(magnitude === MAGNITUDE_MAX && !isNegative)', 'magnitude === MAGNITUDE_MAX'],
  'a minus is lost': ['isNegative ? -magnitude : magnitude', 'magnitude'],
  'a fraction is lost': [' + fractionNs(fraction, unit)', ''],
  'a duration may have 1,001 characters': ['TEXT_MAX = 1_000', 'TEXT_MAX = 1_001'],
  'a duration may not have 1,000 characters': ['TEXT_MAX = 1_000', 'TEXT_MAX = 999'],
});

const TIMES: readonly Mutant[] = mutantsOf('src/lib/timestamp.ts', ['test/lib/timestamp.test.ts'], {
  '30 February is a day': ['if (formatTimestamp(localMs) !== canonical) return undefined;', ''],
  'an offset is lost': ["sign === '-' ? localMs + offsetMs : localMs - offsetMs", 'localMs'],
  'an offset is turned round': ["sign === '-' ?", "sign === '+' ?"],
  'an offset may be 24 h': ['offset.hours > 23', 'offset.hours > 24'],
  'an offset may be 60 min': ['offset.minutes > 59', 'offset.minutes > 60'],
  'a time needs no zone': ['(?:Z|([+-])([0-9]{2}):([0-9]{2}))$', '(?:Z|([+-])([0-9]{2}):([0-9]{2}))?$'],
  'a time may be in lower case': ['([0-9]{2}))$/;', '([0-9]{2}))$/i;'],
  'a fraction is in milliseconds': [".padEnd(3, '0')", ".padStart(3, '0')"],
  'a time may lie before year 0': ['ms >= FIRST_MS && ', ''],
  'a time may lie after year 9999': [' && ms <= LAST_MS', ''],
});

export const FORMATS: readonly Mutant[] = [...JSON_READER, ...JSON_TOKENS, ...DURATIONS, ...TIMES];
