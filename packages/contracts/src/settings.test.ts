import { Type } from '@sinclair/typebox';
import {
  answerExample,
  answerFields,
  changedValues,
  changeFields,
  compileValidator,
  contextSettings,
  creationFields,
  defaultValues,
  messageFields,
  optionalSetting,
  pickValues,
  requiredSetting,
  toAnswer,
  toGiven,
  toValues,
} from './index';

const texts = { requestDescription: 'Given.', answerDescription: 'Answered.', example: 1, column: 'integer' } as const;
const settings = {
  first_size: requiredSetting({ ...texts, schema: Type.Integer(), request: Type.Integer({ minimum: 1 }) }),
  most_tries: optionalSetting({
    ...texts,
    schema: Type.Integer(),
    request: Type.Integer({ maximum: 9 }),
    whenAbsent: 3,
  }),
};

describe('a description of settings', () => {
  it('makes requests that hold values within their bounds', () => {
    const create = compileValidator(Type.Object(creationFields(settings)));
    const change = compileValidator(Type.Object(changeFields(settings)));
    expect(create({ first_size: 1 })).toMatchObject({ ok: true });
    expect(create({ most_tries: 1 })).toMatchObject({ ok: false });
    expect(create({ first_size: 1, most_tries: 10 })).toMatchObject({ ok: false });
    expect(change({})).toMatchObject({ ok: true });
    expect(change({ first_size: 0 })).toMatchObject({ ok: false });
  });

  it('tells each side what a setting means, and new resources their defaults', () => {
    expect(creationFields(settings).most_tries).toMatchObject({ description: 'Given.', default: 3 });
    expect(changeFields(settings).most_tries).not.toHaveProperty('default');
    expect(answerFields(settings).most_tries).toMatchObject({ description: 'Answered.' });
    expect(answerFields(settings).most_tries).not.toHaveProperty('maximum');
  });

  it('makes messages in which a setting that has a default may be missing', () => {
    const check = compileValidator(Type.Object(messageFields(settings)));
    expect(check({ firstSize: 1 })).toMatchObject({ ok: true });
    expect(check({ mostTries: 1 })).toMatchObject({ ok: false });
    expect(defaultValues(settings)).toEqual({ mostTries: 3 });
  });

  it('carries values between rows, records and requests', () => {
    const [fields, values] = [
      { first_size: 5, most_tries: 4 },
      { firstSize: 5, mostTries: 4 },
    ];
    expect(toAnswer(settings, values)).toEqual(fields);
    expect(toValues(settings, fields)).toEqual(values);
    expect(pickValues(settings, { ...values, id: 'x' } as typeof values)).toEqual(values);
    expect(toGiven(settings, { first_size: 5 })).toEqual({ firstSize: 5, mostTries: 3 });
    expect(changedValues(settings, { most_tries: 1 }, values)).toEqual({ firstSize: 5, mostTries: 1 });
  });

  it('distinguishes null, which is a value, from a setting that a request leaves out', () => {
    const nullable = Type.Union([Type.Integer(), Type.Null()]);
    const ttl = { ttl: optionalSetting({ ...texts, schema: nullable, request: nullable, whenAbsent: null }) };
    expect(changedValues(ttl, { ttl: null }, { ttl: 60 })).toEqual({ ttl: null });
    expect(changedValues(ttl, {}, { ttl: 60 })).toEqual({ ttl: 60 });
    const hour = { ttl: optionalSetting({ ...ttl.ttl, whenAbsent: 3_600 }) };
    expect(toGiven(hour, { ttl: null })).toEqual({ ttl: null });
    expect(toGiven(hour, {})).toEqual({ ttl: 3_600 });
  });
});

it.each(Object.entries(contextSettings))('accepts the example and the default of %s in a request', (name, setting) => {
  const check = compileValidator(Type.Object({ [name]: setting.request }));
  const values = [answerExample(contextSettings)[name as keyof typeof contextSettings]]; // a key of the entries
  for (const value of 'whenAbsent' in setting ? [...values, setting.whenAbsent] : values) {
    expect(check({ [name]: value })).toMatchObject({ ok: true });
  }
});
