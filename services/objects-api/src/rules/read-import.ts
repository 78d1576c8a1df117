import {
  type AssetKind,
  ConditionCell,
  FlowImport,
  ResponseCell,
  RowSettings,
  RuleField,
  RuleGroup,
  RuleImport,
  RuleRow,
  RuleSettings,
  ScheduleWindow,
  testPolicies,
} from '@decision/contracts';
import { isObject, MAX_PROBLEMS, nearName, type RuleProblem } from '@decision/engine';

/** A meaningful part of an import that would be dropped. */
export type ImportProblem = Pick<RuleProblem, 'message' | 'path'> & { readonly code: 'misread' };

/** The valid field names of an object in a document. */
interface Names {
  /** Fields that are read. */
  readonly read: readonly string[];
  /** Fields that clients send back as they received them, and that are ignored. */
  readonly echoed: ReadonlySet<string>;
}

const namesOf = (read: readonly string[], echoed: readonly string[] = []): Names => ({
  read,
  echoed: new Set([...echoed, ...read]),
});
const keysOf = (schema: { readonly properties: object }): readonly string[] => Object.keys(schema.properties);

const ECHOED = [
  ...['stable_id', 'createdAt', 'created_at', 'updatedAt', 'updated_at', 'updatedBy', 'version', 'history', 'ignored'],
  ...['published', 'publishedAt'],
];
const RULE = namesOf(keysOf(RuleImport), [
  ...ECHOED,
  ...[
    'published_requestSchema',
    'published_responseSchema',
    'published_conditions',
    'published_groups',
    'no_conditions',
  ],
]);
const FLOW = namesOf(keysOf(FlowImport), [...ECHOED, 'no_nodes', 'requestSchema', 'responseSchema']);
const FIELD = namesOf(keysOf(RuleField));
const ROW = namesOf(keysOf(RuleRow));
const CONDITION = namesOf(keysOf(ConditionCell));
const RESPONSE = namesOf(keysOf(ResponseCell));
const ROW_SETTINGS = namesOf(keysOf(RowSettings));
const WINDOW = namesOf(keysOf(ScheduleWindow));
const GROUP = namesOf(keysOf(RuleGroup));
const SETTINGS = namesOf(keysOf(RuleSettings));
const CONTEXT = namesOf(['slug', 'version'], ['id', 'name']);
const FOLDER = namesOf(['id', 'name']);
const OF_LAST_RUN = ['error', 'success', 'test_state', 'last_executed'];
const TEST = namesOf(['id', 'name', 'request', 'response', 'policy', 'critical'], OF_LAST_RUN);
const FLOW_TEST = namesOf([...TEST.read, 'mocks', 'live'], OF_LAST_RUN);

/** Fields that are meaningful, but not within a rule. */
const elsewhere = (kind: AssetKind): Readonly<Record<string, string>> => ({
  expected_updated_at: `belongs beside "${kind}" in the body, not inside it`,
  dry_run: 'is not known to imports: each one is carried out',
  [kind]: 'is the name of the whole document, which is nested twice here',
  environment: 'is not set by imports; POST /api/v1/admin/releases releases a version into an environment',
});

/** Problems of an import: meaningful fields that would be dropped, or fields that do not mean what was intended; at most {@link MAX_PROBLEMS}. */
export const problemsOfImport = (imported: RuleImport): readonly ImportProblem[] =>
  first(misread('rule', imported, RULE), misreadTable(imported));

/** As {@link problemsOfImport}, for a flow; its nodes and connections are checked as a whole. */
export const problemsOfFlowImport = (imported: FlowImport): readonly ImportProblem[] =>
  first(misread('flow', imported, FLOW));

const first = (...all: readonly Generator<ImportProblem>[]): readonly ImportProblem[] => {
  const problems: ImportProblem[] = [];
  for (const some of all)
    for (const problem of some) {
      problems.push(problem);
      if (problems.length >= MAX_PROBLEMS) return problems;
    }
  return problems;
};

/** Unknown fields of an import: they are left out and reported. */
export const ignoredFields = (
  kind: AssetKind,
  imported: object,
): readonly { readonly field: string; readonly reason: string }[] =>
  Object.keys(imported)
    .filter((name) => !(kind === 'rule' ? RULE : FLOW).echoed.has(name))
    .slice(0, MAX_PROBLEMS)
    .map((name) => ({
      field: name.slice(0, 100),
      reason: `${kind === 'rule' ? 'Rules' : 'Flows'} have no such field; it was not stored.`,
    }));

/** The parts that rules and flows have in common. */
const misread = function* (
  kind: AssetKind,
  imported: Pick<RuleImport, 'context' | 'folder' | 'testSuite'>,
  names: Names,
): Generator<ImportProblem> {
  for (const [name, message] of Object.entries(elsewhere(kind))) {
    if (Object.hasOwn(imported, name)) yield problem(`/${name}`, `"${name}" ${message}.`);
  }
  yield* misspelt(imported, names, '');
  const { version } = imported as { readonly version?: unknown }; // exports contain it, imports ignore it
  if (version !== undefined && version !== null && !(Number.isInteger(version) && Number(version) >= 1))
    yield problem('/version', '"version" is the number that an export shows. "_publish": true makes the next version; "context": {"slug", "version"} says which version a context runs.'); // prettier-ignore
  yield* misreadContext(imported.context);
  yield* misreadFolder(imported.folder);
  for (const [index, test] of (imported.testSuite ?? []).entries())
    yield* misreadTest(kind, test, `/testSuite/${index}`);
};

const misreadTable = function* (imported: RuleImport): Generator<ImportProblem> {
  const { requestSchema = [], responseSchema = [], conditions = [], groups = {}, settings = {} } = imported;
  for (const [index, field] of requestSchema.entries()) yield* misspelt(field, FIELD, `/requestSchema/${index}`);
  for (const [index, field] of responseSchema.entries()) yield* misspelt(field, FIELD, `/responseSchema/${index}`);
  for (const [index, row] of conditions.entries()) {
    yield* misspelt(row, ROW, `/conditions/${index}`);
    yield* misspeltWithin(row.request, CONDITION, `/conditions/${index}/request`);
    yield* misspeltWithin(row.response, RESPONSE, `/conditions/${index}/response`);
    yield* misspelt(row.settings ?? {}, ROW_SETTINGS, `/conditions/${index}/settings`);
    yield* misspeltWithin(row.settings?.schedule ?? {}, WINDOW, `/conditions/${index}/settings/schedule`);
  }
  yield* misspeltWithin(groups, GROUP, '/groups');
  yield* misspelt(settings, SETTINGS, '/settings');
  const { testing } = settings;
  if (typeof testing === 'string' && testing !== 'continuous' && lookalike(testing, ['continuous']) !== undefined)
    yield problem('/settings/testing', `"testing" is ${JSON.stringify(testing)}; did you mean "continuous"?`);
};

/** The forms in which a version of a binding can be given. */
const SELECTOR = /^[1-9]\d{0,8}$|^[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*$/;

const misreadContext = function* (context: unknown): Generator<ImportProblem> {
  if (context === undefined || context === null) return;
  const example = '{"slug": "orders"} or {"slug": "orders", "version": "latest"}';
  if (!isObject(context)) {
    yield problem('/context', `"context" must be an object, such as ${example}; null binds to nothing.`);
    return;
  }
  yield* misspelt(context, CONTEXT, '/context');
  const { slug, version } = context;
  if (slug === undefined)
    yield problem('/context', `A context is named by its slug, such as ${example}; without one nothing is bound.`);
  if (version === undefined || version === null || (typeof version === 'number' && SELECTOR.test(String(version))))
    return;
  if (typeof version !== 'string' || !SELECTOR.test(version))
    yield problem('/context/version', 'The version of a binding is "latest", a version number, or the slug of an environment.'); // prettier-ignore
};

const misreadFolder = function* (folder: unknown): Generator<ImportProblem> {
  if (folder === undefined || folder === null || typeof folder === 'string') return;
  if (!isObject(folder)) {
    yield problem('/folder', '"folder" must be an object, such as {"name": "Pricing"}; null means no folder.');
    return;
  }
  yield* misspelt(folder, FOLDER, '/folder');
};

const misreadTest = function* (
  kind: AssetKind,
  test: Readonly<Record<string, unknown>>,
  path: string,
): Generator<ImportProblem> {
  yield* misspelt(test, kind === 'rule' ? TEST : FLOW_TEST, path);
  if (kind === 'flow') yield* misreadMocks(test, path);
  const { policy, critical } = test;
  if (policy !== undefined && !testPolicies.some((known) => known === policy))
    yield problem(`${path}/policy`, `The policy of a test is one of: ${testPolicies.join(', ')}.`);
  if (critical !== undefined && typeof critical !== 'boolean')
    yield problem(`${path}/critical`, '"critical" must be true or false.');
  for (const part of ['request', 'response'])
    if (test[part] !== undefined && !isObject(test[part])) yield problem(`${path}/${part}`, `"${part}" must be an object.`); // prettier-ignore
};

const misreadMocks = function* (
  { live, mocks }: Readonly<Record<string, unknown>>,
  path: string,
): Generator<ImportProblem> {
  if (live !== undefined && typeof live !== 'boolean') yield problem(`${path}/live`, '"live" must be true or false.');
  if (mocks !== undefined && !(isObject(mocks) && Object.values(mocks).every(isObject)))
    yield problem(`${path}/mocks`, '"mocks" must be an object of the outputs of nodes by their refs, such as {"bureau": {"score": 700}}.'); // prettier-ignore
};

const misspeltWithin = function* (objects: object | undefined, names: Names, path: string): Generator<ImportProblem> {
  for (const [key, object] of Object.entries(objects ?? {}) as [string, object][])
    // as the schema of imports has them
    yield* misspelt(object, names, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
};

const misspelt = function* (object: object, { read, echoed }: Names, path: string): Generator<ImportProblem> {
  for (const name of Object.keys(object)) {
    if (echoed.has(name)) continue;
    const near = lookalike(name, read);
    if (near !== undefined) yield problem(`${path}/${name}`, `"${name}" would not be read; did you mean "${near}"?`);
  }
};

/** Minimum length of names to compare: shorter ones look alike by accident. */
const LEAST_COMPARED = 4;
/** Maximum difference in length between names that look alike. */
const MOST_MORE = 2;

/** The known name that is most likely meant: one that differs only in case and separators, or one a few characters away. */
const lookalike = (name: string, known: readonly string[]): string | undefined => {
  const bare = bareOf(name);
  const same = known.find((candidate) => bareOf(candidate) === bare);
  if (same !== undefined || bare.length < LEAST_COMPARED) return same;
  return nearName(name, known.filter((candidate) => Math.abs(bareOf(candidate).length - bare.length) <= MOST_MORE)); // prettier-ignore
};

const bareOf = (name: string): string => name.toLowerCase().replace(/[\s_.-]/g, '');

const problem = (path: string, message: string): ImportProblem => ({
  code: 'misread',
  path: path.slice(0, 500),
  message: message.slice(0, 500),
});
