import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

const REFERENCE = /^.*#\/(?:\$defs|definitions)\//;

/**
 * Writes schemas that stand for themselves: with all that they refer to, and without names of their own, since kubeconform reads one file a kind. `names` are those of the package's
 * files without ending.
 */
export const bundleSchemas = (source: string, target: string, names: readonly string[]): void => {
  const read = (name: string): Json => JSON.parse(readFileSync(join(source, `${name}.json`), 'utf8')) as Json;
  const definitions = objectOf(
    objectOf(read('_definitions'))['$defs'] ?? objectOf(read('_definitions'))['definitions'],
  );
  mkdirSync(target, { recursive: true });
  for (const name of names) {
    if (!existsSync(join(source, `${name}.json`))) continue;
    const used: Record<string, Json> = {};
    const rewrite = (json: Json): Json => {
      if (Array.isArray(json)) return json.map(rewrite);
      if (json === null || typeof json !== 'object') return json;
      return Object.fromEntries(
        Object.entries(json)
          .filter(([key]) => key !== '$id' && key !== '$schema')
          .map(([key, value]) => [key, follow(key, value)]),
      );
    };
    const follow = (key: string, value: Json): Json => {
      if (key !== '$ref' || typeof value !== 'string') return rewrite(value);
      const name_ = value.replace(REFERENCE, '');
      if (!(name_ in used)) {
        used[name_] = true;
        used[name_] = rewrite(definitions[name_] ?? {});
      }
      return `#/definitions/${name_}`;
    };
    const schema = objectOf(rewrite(read(name)));
    writeFileSync(join(target, `${name}.json`), JSON.stringify({ ...schema, definitions: used }));
  }
};

/** Fields that no definition names are refused, wherever it does not say that there may be any. */
const strict = (json: Json): Json => {
  if (Array.isArray(json)) return json.map(strict);
  if (json === null || typeof json !== 'object') return json;
  const inner = Object.fromEntries(Object.entries(json).map(([key, value]) => [key, strict(value)]));
  const isOpen = 'additionalProperties' in json || json['x-kubernetes-preserve-unknown-fields'] === true;
  return json['type'] === 'object' && 'properties' in json && !isOpen
    ? { ...inner, additionalProperties: false }
    : inner;
};

/** Writes the schema of the first version of a kind that its definition (CustomResourceDefinition, YAML) holds, by the name that kubeconform reads. */
export const writeDefinedSchema = (definition: string, target: string, name: string): void => {
  const { spec } = parse(readFileSync(definition, 'utf8')) as {
    readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Json } }[] };
  };
  mkdirSync(target, { recursive: true });
  writeFileSync(
    join(target, `${name}.json`),
    JSON.stringify(strict(spec.versions[0]?.schema.openAPIV3Schema ?? false)),
  );
};

const objectOf = (json: Json | undefined): Record<string, Json> =>
  json !== undefined && json !== null && typeof json === 'object' && !Array.isArray(json) ? json : {};
