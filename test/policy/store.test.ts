import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BUILT_IN_POLICY, type Policy } from '../../src/policy/policy.ts';
import { DOCUMENTS_MAX, PolicyStore } from '../../src/policy/store.ts';

/** Told apart by the name of its step. */
function policy(name: string, ...models: readonly string[]): Policy {
  return { ...BUILT_IN_POLICY, models, steps: BUILT_IN_POLICY.steps.map((step) => ({ ...step, name })) };
}

const stepOf = (store: PolicyStore, model: string) => store.planFor(model).steps[0]?.name;

describe('PolicyStore', () => {
  it('has the built-in policy for every model at first, with three tries', () => {
    const { steps } = new PolicyStore().planFor('m');
    assert.deepEqual(
      steps.map(({ name, strategy, maxTries }) => [name, strategy, maxTries]),
      [['routing_policy', 'least-loaded', 3]],
    );
  });

  it('gives the router’s tries to steps that do not say', () => {
    const own: Policy = { ...BUILT_IN_POLICY, steps: BUILT_IN_POLICY.steps.map((step) => ({ ...step, maxTries: 5 })) };
    const tries = [BUILT_IN_POLICY, own].map(
      (global) => new PolicyStore({ global, documents: new Map() }, 7).planFor('m').steps[0]?.maxTries,
    );
    assert.deepEqual(tries, [7, 5]);
  });

  it('lets a document replace the global policy for its models, whole', () => {
    const store = new PolicyStore({
      global: policy('global', 'm'),
      documents: new Map([['d', policy('d', 'a', 'b')]]),
    });
    assert.deepEqual(
      ['a', 'b', 'm', '__proto__'].map((model) => stepOf(store, model)),
      ['d', 'd', 'global', 'global'],
    );
  });

  it('refuses a document with a model of another one, and changes nothing', () => {
    const store = new PolicyStore();
    assert.ok(store.putDocument('one', policy('one', 'a', 'b')).ok);
    assert.deepEqual(store.putDocument('two', policy('two', 'c', 'b')), {
      ok: false,
      fault: { model: 'b', owner: 'one' },
    });
    assert.deepEqual([stepOf(store, 'b'), stepOf(store, 'c')], ['one', 'routing_policy']);
  });

  it('lets a document replace itself and give models up', () => {
    const store = new PolicyStore();
    assert.ok(store.putDocument('one', policy('old', 'a', 'b')).ok);
    assert.ok(store.putDocument('one', policy('new', 'b')).ok);
    assert.ok(store.putDocument('two', policy('two', 'a')).ok);
    assert.deepEqual([stepOf(store, 'a'), stepOf(store, 'b')], ['two', 'new']);
  });

  it('gives models of a deleted document back to the global policy', () => {
    const store = new PolicyStore();
    assert.ok(store.putDocument('one', policy('one', 'a')).ok);
    store.deleteDocument('none');
    assert.equal(stepOf(store, 'a'), 'one');
    store.deleteDocument('one');
    assert.equal(stepOf(store, 'a'), 'routing_policy');
    assert.ok(store.putDocument('two', policy('two', 'a')).ok);
  });

  it('replaces the global policy alone, or all of them', () => {
    const store = new PolicyStore();
    assert.ok(store.putDocument('one', policy('one', 'a')).ok);
    store.replaceGlobal(policy('new'));
    assert.deepEqual([stepOf(store, 'a'), stepOf(store, 'b')], ['one', 'new']);
    store.replaceAll({ global: policy('newer'), documents: new Map([['two', policy('two', 'b')]]) });
    assert.deepEqual([stepOf(store, 'a'), stepOf(store, 'b')], ['newer', 'two']);
    assert.deepEqual([...store.documents.keys()], ['two']);
  });

  it('does not change a plan that a request has', () => {
    const store = new PolicyStore();
    const plan = store.planFor('m');
    store.replaceGlobal(policy('new'));
    assert.equal(plan.steps[0]?.name, 'routing_policy');
  });

  it('bounds the number of documents, not that of replacements', () => {
    const store = new PolicyStore();
    for (let index = 0; index < DOCUMENTS_MAX; index += 1)
      assert.ok(store.putDocument(`d${index}`, policy('d', `m${index}`)).ok);
    assert.deepEqual(store.putDocument('more', policy('d', 'm')), { ok: false, fault: 'full' });
    assert.ok(store.putDocument('d0', policy('d', 'm')).ok);
  });
});
