import { createHash } from 'node:crypto';
import { type FlowRun, type OutsideCall, Secret } from '@decision/flows';
import { isPlainObject } from '@decision/values';

/** The JSON of a value with sorted members; each secret is written as its given text. */
export const canonicalText = (value: unknown, ofSecret: (secret: Secret) => string): string => {
  if (value instanceof Secret) return `secret(${ofSecret(value)})`;
  if (Array.isArray(value)) return `[${value.map((item) => canonicalText(item, ofSecret)).join(',')}]`;
  if (!isPlainObject(value)) return JSON.stringify(value ?? null);
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalText(value[key], ofSecret)}`);
  return `{${members.join(',')}}`;
};

/** SHA-256 of several texts, in base64url; texts are delimited, so different lists never hash the same input. */
export const digestOf = (...texts: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(`${text.length}:`).update(text);
  return hash.digest('base64url');
};

const nameOf = ({ name }: Secret): string => JSON.stringify(name);

/** The idempotency key of a step. Secrets take part by name, so that a changed password does not make a new step. */
export const idempotencyKeyOf = (run: FlowRun, { path, indexes, inputs }: OutsideCall): string =>
  digestOf(
    run.idempotencyRoot,
    run.versionId,
    JSON.stringify(path),
    JSON.stringify(indexes),
    String(run.round),
    canonicalText(inputs, nameOf),
  );
