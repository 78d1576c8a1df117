import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { chartsFolder, UMBRELLA, type Value } from '../src/chart-values';
import { buildProgram, findHelm, KUBERNETES, run } from './tools.js';

/** An object of Kubernetes as it was rendered. */
export interface Rendered {
  readonly [field: string]: Value;
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly [field: string]: Value; readonly name: string };
}

/** What is at a path of names and positions joined by dots; null where there is nothing. */
export const at = (value: Value, path: string): Value =>
  path.split('.').reduce<Value>((inside, name) => {
    if (inside === null || typeof inside !== 'object') return null;
    return (inside as Readonly<Record<string, Value>>)[name] ?? null; // a position of a list is a name too
  }, value);

/** The text at a path; empty where there is none. */
export const textAt = (value: Value, path: string): string => {
  const text = at(value, path);
  return typeof text === 'string' ? text : '';
};

/** The texts of the list at a path. */
export const textsAt = (value: Value, path: string): readonly string[] =>
  listAt(value, path).filter((item) => typeof item === 'string');

/** The list at a path; empty where there is nothing. */
export const listAt = (value: Value, path: string): readonly Value[] => {
  const list = at(value, path);
  return Array.isArray(list) ? (list as readonly Value[]) : [];
};

const helm = (): string => {
  const found = buildProgram('helm') ?? findHelm();
  if (found === undefined) throw new TypeError('There is no Helm.');
  return found;
};

export const RELEASE = 'rel';
export const NAMESPACE = 'decisions';

/** Names of the value files in a folder below `charts/test`. */
export const valueFiles = (folder: 'values' | 'wrong'): readonly string[] =>
  readdirSync(join(chartsFolder, 'test', folder)).sort();

export const valuePath = (folder: 'values' | 'wrong', file: string): string => join(chartsFolder, 'test', folder, file);

/** Runs `helm template` of a chart. */
export const template = (chart: string, args: readonly string[]): { readonly ok: boolean; readonly output: string } =>
  run(helm(), [
    ...['template', RELEASE, join(chartsFolder, chart), '--namespace', NAMESPACE, '--kube-version', KUBERNETES],
    ...args,
  ]);

export const lint = (chart: string, args: readonly string[]) =>
  run(helm(), ['lint', '--strict', '--kube-version', KUBERNETES, join(chartsFolder, chart), ...args]);

const known = new Map<string, readonly Rendered[]>();

/**
 * The objects that the umbrella makes of a value file, and of further values (`--set-json`). A file alone is rendered once. Throws with the refusal.
 */
export const render = (file: string, values: Readonly<Record<string, Value>> = {}): readonly Rendered[] => {
  if (Object.keys(values).length > 0) return renderAnew(file, values);
  const objects = known.get(file) ?? renderAnew(file);
  known.set(file, objects);
  return objects;
};

/** As {@link render}, each time. */
export const renderAnew = (file: string, values: Readonly<Record<string, Value>> = {}): readonly Rendered[] => {
  const { ok, output } = template(UMBRELLA, ['--values', valuePath('values', file), ...setsOf(values)]);
  if (!ok) throw new TypeError(output);
  return objectsOf(output);
};

/**
 * What an installation with a value file tells the operator. Helm shows notes only of an installation into a cluster, so that a copy of the chart has
 * them in a config map. Throws with the refusal.
 */
export const renderNotes = (file: string, values: Readonly<Record<string, Value>> = {}): string => {
  const folder = mkdtempSync(join(tmpdir(), 'notes-'));
  try {
    cpSync(join(chartsFolder, UMBRELLA), folder, { recursive: true });
    const notes = readFileSync(join(folder, 'templates/NOTES.txt'), 'utf8');
    const object =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: notes }\ndata: { notes: {{ include "notes" . | toJson }} }\n';
    writeFileSync(join(folder, 'templates/notes.yaml'), `{{ define "notes" }}${notes}{{ end }}${object}`);
    const { ok, output } = run(helm(), [
      ...['template', RELEASE, folder, '--namespace', NAMESPACE, '--kube-version', KUBERNETES],
      ...['--values', valuePath('values', file), ...setsOf(values), '--show-only', 'templates/notes.yaml'],
    ]);
    if (!ok) throw new TypeError(output);
    return textAt(objectsOf(output)[0] ?? null, 'data.notes');
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const setsOf = (values: Readonly<Record<string, Value>>): readonly string[] =>
  Object.entries(values).flatMap(([path, value]) => ['--set-json', `${path}=${JSON.stringify(value)}`]);

export const objectsOf = (text: string): readonly Rendered[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as Rendered | null)
    .filter((object) => object !== null);

/** The one object of this kind and component; undefined where there is none. */
export const find = (objects: readonly Rendered[], kind: string, component: string): Rendered | undefined =>
  objects.find((object) => object.kind === kind && object.metadata.name === `${RELEASE}-${component}`);

/** As {@link find}. Throws where there is none. */
export const get = (objects: readonly Rendered[], kind: string, component: string): Rendered => {
  const found = find(objects, kind, component);
  if (found === undefined) throw new TypeError(`There is no ${kind} of ${component}.`);
  return found;
};

/** The variables that a service is given in the config map. */
export const variablesOf = (objects: readonly Rendered[], service: string): Readonly<Record<string, string>> =>
  (at(get(objects, 'ConfigMap', service), 'data') ?? {}) as Readonly<Record<string, string>>; // Kubernetes takes texts alone

/** Pods of all objects that make some, with what they belong to. */
export const podsOf = (objects: readonly Rendered[]): readonly { readonly owner: Rendered; readonly spec: Value }[] =>
  objects.flatMap((owner) => {
    const spec = at(owner, owner.kind === 'Pod' ? 'spec' : 'spec.template.spec');
    return spec === null ? [] : [{ owner, spec }];
  });

/** Containers of a pod, those that run first included. */
export const containersOf = (pod: Value): readonly Value[] => [
  ...listAt(pod, 'initContainers'),
  ...listAt(pod, 'containers'),
];
