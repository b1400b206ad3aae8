import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GO_ROUTER_SETTINGS } from '../../src/config/go-router-settings.ts';
import { SETTING_ROWS, SETTINGS } from '../../src/config/settings.ts';

/** What a shell makes of an example. */
function expand(example: string): string {
  return example.replace('$(openssl rand -hex 32)', '0123456789abcdef'.repeat(4));
}

describe('SETTINGS', () => {
  it('has a default that its own parser takes', () => {
    for (const setting of SETTING_ROWS) {
      if (setting.fallback !== undefined) assert.ok(setting.parse(setting.fallback, 'variable').ok, setting.variable);
    }
  });

  it('has examples that work, for the flag and for the variable', () => {
    for (const setting of SETTING_ROWS) {
      assert.ok(setting.parse(setting.example, 'flag').ok, setting.variable);
      const example = expand(setting.variableExample ?? setting.example);
      assert.ok(setting.parse(example, 'variable').ok, setting.variable);
    }
  });

  it('has none that could bring a sibling map: only a push does (R-006)', () => {
    for (const { flag, variable } of SETTING_ROWS) assert.doesNotMatch(`${flag} ${variable}`, /map|placement|sibling/i);
  });

  it('names no flag and no variable twice, those of the Go router included', () => {
    const rows = [...SETTING_ROWS, ...GO_ROUTER_SETTINGS];
    const flags = rows.flatMap(({ flag }) => (flag === undefined ? [] : [flag]));
    const variables = rows.map(({ variable }) => variable);
    assert.equal(new Set(flags).size, flags.length);
    assert.equal(new Set(variables).size, variables.length);
  });

  it('derives the variable from the flag, but where the product page or the Go router names another (E12)', () => {
    const others = [...SETTING_ROWS, ...GO_ROUTER_SETTINGS].filter(
      ({ flag, variable }) =>
        flag !== undefined && variable !== `HIVENET_ROUTER_${flag.slice(2).replaceAll('-', '_').toUpperCase()}`,
    );
    assert.deepEqual(
      others.map(({ flag, variable }) => `${flag} ${variable}`),
      [
        '--auth-config-file HIVENET_ROUTER_AUTH_CONFIG',
        '--engine HIVENET_ROUTER_ENGINES',
        '--openai-api-key-file HIVENET_ROUTER_OPENAI_API_KEY',
        '--anthropic-api-key-file HIVENET_ROUTER_ANTHROPIC_API_KEY',
        '--redirect-secret-file HIVENET_ROUTER_REDIRECT_SECRETS',
        '--jwt-secret-file HIVENET_ROUTER_JWT_SECRET',
      ],
    );
  });

  it('keeps secrets off the command line, where every user of the machine reads them', () => {
    assert.ok(!('flag' in SETTINGS.adminApiKeys));
    assert.ok(SETTINGS.adminApiKeys.isSecret);
    for (const { isSecret } of [SETTINGS.redirectSecrets, SETTINGS.openaiApiKey, SETTINGS.anthropicApiKey]) {
      assert.ok(isSecret);
    }
  });
});
