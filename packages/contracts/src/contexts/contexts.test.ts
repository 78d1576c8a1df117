import {
  compileValidator,
  contextLimits,
  ContextSchema,
  CreateContextRequest,
  CreateRelationshipRequest,
  UpdateContextRequest,
} from '../index';

const checkContextSchema = compileValidator(ContextSchema);
const checkCreateContext = compileValidator(CreateContextRequest);
const checkCreateRelationship = compileValidator(CreateRelationshipRequest);
const checkUpdateContext = compileValidator(UpdateContextRequest);

const schema = { base: [{ key: 'id', type: 'string' }], derived: [{ key: 'd', expression: 'id + "x"' }] };
const create = { name: 'Orders', schema, identity_fact: 'id' };

describe('requests about contexts', () => {
  it.each([
    [create],
    [{ ...create, ttl_seconds: contextLimits.ttlLeastSeconds, history_limit: 1 }],
    [{ ...create, ttl_seconds: contextLimits.ttlMostSeconds, history_limit: contextLimits.historyMost }],
    [{ ...create, ttl_seconds: null, folder: null, on_schema_mismatch: 'store' }],
  ])('are accepted: %j', (body) => {
    expect(checkCreateContext(body)).toMatchObject({ ok: true });
  });

  it.each([
    [{ ...create, ttl_seconds: contextLimits.ttlLeastSeconds - 1 }, '/ttl_seconds'],
    [{ ...create, ttl_seconds: contextLimits.ttlMostSeconds + 1 }, '/ttl_seconds'],
    [{ ...create, history_limit: 0 }, '/history_limit'],
    [{ ...create, history_limit: contextLimits.historyMost + 1 }, '/history_limit'],
    [{ ...create, on_schema_mismatch: 'drop' }, '/on_schema_mismatch'],
    [{ ...create, schema: { base: [] } }, '/schema/base'],
    [{ ...create, schema: { base: [{ key: '', type: 'string' }] } }, '/schema/base/0/key'],
    [{ ...create, schema: { base: [{ key: 'a', type: 'text' }] } }, '/schema/base/0/type'],
    [{ ...create, color: 'red' }, ''],
  ])('are refused with the place: %j', (body, path) => {
    const checked = checkCreateContext(body);
    expect(checked.ok ? [] : checked.problems.map((problem) => problem.path)).toContain(path);
  });

  it('change nothing if every part is left out', () => {
    expect(checkUpdateContext({})).toMatchObject({ ok: true });
  });

  it('have one base fact or as many as there are', () => {
    const base = Array.from({ length: 5_000 }, (_, index) => ({ key: `f${index}`, type: 'number' }));
    const derived = base.map(({ key }) => ({ key: `d${key}`, expression: key }));
    expect(checkContextSchema({ base, derived })).toMatchObject({ ok: true });
    expect(checkContextSchema({ base: [] })).toMatchObject({ ok: false });
  });

  it.each([
    ['orders', true],
    ['_o1', true],
    ['my orders', false],
    ['1st', false],
    ['$orders', false],
  ])('take the relationship name %s: %s', (name, ok) => {
    const body = {
      to_context_id: '0b0f1a52-6a0c-4a51-9d3b-3a6f0d4c7e21',
      relation_type: 'has_many',
      foreign_key_fact: 'customer_id',
      name,
    };
    expect(checkCreateRelationship(body)).toMatchObject({ ok });
  });
});
