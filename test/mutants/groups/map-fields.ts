// The sibling map at its door: each field, each bound, and the grammar of site URLs.

import { type Mutant, mutantsOf } from '../mutant.ts';

const SCHEMA: readonly Mutant[] = mutantsOf(
  'src/site/schema-3.ts',
  ['test/site/schema-3.test.ts', 'test/site/parse-sibling-map.test.ts'],
  {
    'schema 2 is read': ["value.lexeme === '3' ?", "value.lexeme === '3' || value.lexeme === '2' ?"],
    'schema 3.0 is 3': [
      [' || !SMALL_INTEGER.test(value.lexeme)', ''],
      ["value.lexeme === '3' ?", 'Number(value.lexeme) === 3 ?'],
    ],
    'any number is a schema': [' || !SMALL_INTEGER.test(value.lexeme)', ''],
    'version 0 is refused': ['(?:0|[1-9][0-9]{0,19})', '(?:[1-9][0-9]{0,19})'],
    'a version of 2^64 is taken': ['2n ** 64n - 1n', '2n ** 64n'],
    'a version of 2^64 - 1 is refused': ['2n ** 64n - 1n', '2n ** 64n - 2n'],
    'a version loses its last digits': ['BigInt(value.lexeme)', 'BigInt(Number(value.lexeme))'],
    'a name may be anything': ['isName(name) ? name', 'true ? name'],
    'a hold budget of nothing is taken': ['duration.value <= 0n', 'duration.value < 0n'],
    'a hold budget may be negative': ['duration.value <= 0n || ', ''],
    'a hold budget of 1 h and 1 ns is taken': ['3_600_000n * NS_PER_MS', '3_600_000n * NS_PER_MS + 1n'],
    'a hold budget of 1 h is refused': ['3_600_000n * NS_PER_MS', '3_600_000n * NS_PER_MS - 1n'],
    'a map may have no sites': ['{ min: 1, max: MAP_MAX_SITES', '{ min: 0, max: MAP_MAX_SITES'],
    'a map must have placements': ['{ min: 0, max', '{ min: 1, max'],
    'two sites may have one ID': ['{ key: (site) => site.id, path', '{ key: (site) => site.url, path'],
    'two sites may have one URL': ['{ key: (site) => site.url, path', '{ key: (site) => site.id, path'],
    'a model may have two placements at a site': ['`${site} ${model}`', '`${site} ${model} ${Math.random()}`'],
    'a model has one placement anywhere': ['`${site} ${model}`', 'model'],
    'a site has one placement': ['`${site} ${model}`', 'site'],
    'a placement may be anywhere': ['sites.get(id)?.id', 'parseSiteId(id)'],
    'a hint means cold': ['warm = true', 'warm = false'],
    'a hint means full': ["load = 'ok'", "load = 'full'"],
    'a site need not say whether it is in the EU': ['eu: required(readBoolean)', 'eu: optional(readBoolean) as never'],
    'a site need not have a country': ["country: required(text('not an ISO", "country: optional(text('not an ISO"],
    'a country may be anything': ["alpha-2 code', parseCountryCode)", "alpha-2 code', (code) => code as never)"],
    'a site ID may be anything': ['"_" or "-"\', parseSiteId)', '"_" or "-"\', (id) => id as SiteId)'],
    'a placement need not say whether it scales from zero': [
      'required(readBoolean),\n    hold',
      'optional(readBoolean) as never,\n    hold',
    ],
    'a kind may be anything': ['required(oneOf(KINDS))', "required(text('', (kind) => kind as Kind))"],
    'a load may be anything': ['oneOf(LOADS)', "text('', (load) => load as 'ok')"],
    'a map needs no region': ['region: required(', 'region: optional('],
    'a map needs no version': ['version: required(readVersion)', 'version: optional(readVersion) as never'],
    'a map must say when it was made': ['generated_at: optional', 'generated_at: required'],
    'a map must say when its hints expire': ['hints_expire_at: optional', 'hints_expire_at: required'],
    'a time may be anything': [
      'return ms === undefined ? undefined : { text: time, ms }',
      'return { text: time, ms: ms ?? 0 }',
    ],
  },
);

const NAMES: readonly Mutant[] = mutantsOf('src/lib/name.ts', ['test/site/schema-3.test.ts'], {
  'a name of 257 bytes is taken': ['NAME_MAX_BYTES = 256', 'NAME_MAX_BYTES = 257'],
  'a name of 256 bytes is refused': ['NAME_MAX_BYTES = 256', 'NAME_MAX_BYTES = 255'],
  'a name is measured in characters': [' && encodeUtf8(text).length <= maxBytes', ''],
  'a name may be empty': ["text !== '' && ", ''],
  'a name may hold control characters': [' && !CONTROL_CHARACTER.test(text)', ''],
});

const DOOR: readonly Mutant[] = mutantsOf('src/site/parse-sibling-map.ts', ['test/site/parse-sibling-map.test.ts'], {
  'a map may be deeper than 8': ['depth: 8', 'depth: 9'],
  'a map may be 8 deep no more': ['depth: 8', 'depth: 7'],
  'a map need not list this site': ['!sites.has(router.ownSite)', 'false'],
  'hints need not expire': ['if (hints_expire_at === undefined && ', 'if (false && '],
});

const READERS: readonly Mutant[] = mutantsOf(
  'src/site/field-readers.ts',
  ['test/site/schema-3.test.ts', 'test/site/parse-sibling-map.test.ts'],
  {
    'undefined members are passed over': ['if (!Object.hasOwn(fields, name)) return undefinedMember(name);', ''],
    'members of every object are defined': ['!Object.hasOwn(fields, name)', '!(name in fields)'],
    'an array may be one too long': ['value.items.length > max', 'value.items.length > max + 1'],
    'an array may not be at its longest': ['value.items.length > max', 'value.items.length >= max'],
    'no item need be unique': ['!addNew(keys, of.key(item.value))', 'false'],
    'an item is compared with the last one only': ['  keys.add(key);', '  keys.clear();\n  keys.add(key);'],
    'a text need not be a string': [
      "value.kind === 'string' ? parse(value.value)",
      "'value' in value ? parse(String(value.value))",
    ],
    'a name is repeated at any length': ['name.length > NAME_MAX_LENGTH ?', 'false ?'],
    'a name is repeated whatever it holds': ['if (!PRINTABLE.test(name)) return', 'if (false) return'],
  },
);

const URLS: readonly Mutant[] = [
  ...mutantsOf('src/site/site-url.ts', ['test/site/site-url.test.ts'], {
    'a site may be on http': ['[Hh][Tt][Tt][Pp][Ss]:', '[Hh][Tt][Tt][Pp][Ss]?:'],
    'a site may be anywhere': ["if (!isBelow(host, domains)) return fault('host is not below an allowed domain');", ''],
    'a site URL may have credentials': [
      "if (authority.includes('@')) return fault('has credentials');",
      "if (authority.includes('@')) return parseSiteUrl(`https://${authority.split('@')[1]}`, domains);",
    ],
    'a site URL may have a path': [
      'if (/[/?#\\\\]/.test(authority))',
      'if (/[?#\\\\]/.test(authority) || /\\/$/.test(authority))',
    ],
    'a site URL loses every slash at its end': ["replace(/\\/$/, '')", "replace(/\\/+$/, '')"],
    'a site URL keeps its slash': [
      'return ok(port === HTTPS_PORT ? `https://${host}`',
      'return ok(port === HTTPS_PORT ? `https://${host}/`',
    ],
    'port 65536 is taken': ['PORT_MAX = 65_535', 'PORT_MAX = 65_536'],
    'port 65535 is refused': ['PORT_MAX = 65_535', 'PORT_MAX = 65_534'],
    'port 0 is taken': ['/^[1-9][0-9]{0,4}$/', '/^[0-9]{1,5}$/'],
    'a port is lost': [': `https://${host}:${port}`)', ': `https://${host}`)'],
    'port 443 is kept': ['port === HTTPS_PORT ?', 'false ?'],
    'a host keeps its case': ['rawHost.toLowerCase()', 'rawHost'],
    'a host is no name': ["if (!isHostName(rawHost)) return fault('host is not a DNS name');", ''],
  }),
  ...mutantsOf('src/site/allowed-domain.ts', ['test/site/allowed-domain.test.ts'], {
    'a domain needs no dot': ["if (!text.startsWith('.')) return fault('does not start with \".\"');", ''],
    'a domain may be anything': ['if (!isHostName(text.slice(1)))', 'if (false)'],
    'a domain keeps its case': ['text.toLowerCase() as', 'text as'],
    'a domain is below itself': [' && host.length > domain.length', ''],
    'a domain may stand anywhere in a host': ['host.endsWith(domain)', 'host.includes(domain)'],
    'a host must be below all domains': ['domains.some(', 'domains.every('],
    'a host may end in the middle of a label': ['host.endsWith(domain)', 'host.endsWith(domain.slice(1))'],
  }),
  ...mutantsOf('src/site/host-name.ts', ['test/site/host-name.test.ts', 'test/site/site-url.test.ts'], {
    'a host name may have 254 characters': ['MAX_LENGTH = 253', 'MAX_LENGTH = 254'],
    'a host name may not have 253 characters': ['MAX_LENGTH = 253', 'MAX_LENGTH = 252'],
    'a label may have 64 characters': ['{0,61}', '{0,62}'],
    'a label may not have 63 characters': ['{0,61}', '{0,60}'],
    'a label may end in a hyphen': ['{0,61}[A-Za-z0-9])?', '{0,61}[A-Za-z0-9-])?'],
    'a host name may end in a dot': ['(?:\\\\.${LABEL})*$', '(?:\\\\.${LABEL})*\\\\.?$'],
    'a host name may hold underscores': ["LABEL = '[A-Za-z0-9]", "LABEL = '[A-Za-z0-9_]"],
  }),
  ...mutantsOf('src/site/site.ts', ['test/site/site.test.ts'], {
    'a site ID may have 65 characters': ['{1,64}', '{1,65}'],
    'a site ID may not have 64 characters': ['{1,64}', '{1,63}'],
    'a site ID may be empty': ['{1,64}', '{0,64}'],
    'a site ID may hold a blank': ['[A-Za-z0-9._-]', '[A-Za-z0-9._ -]'],
    'text may follow a site ID': ['{1,64}$/', '{1,64}/'],
  }),
];

export const MAP_FIELDS: readonly Mutant[] = [...SCHEMA, ...NAMES, ...DOOR, ...READERS, ...URLS];
