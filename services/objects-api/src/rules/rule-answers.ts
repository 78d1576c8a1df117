import {
  type FieldType,
  type ListedField,
  type ListedRule,
  type RuleDocument,
  type RuleField,
} from '@decision/contracts';
import { type RuleRecord, type RuleSummary } from '@decision/persistence';

/** A stored rule as its export shows it. */
export const toDocument = (rule: RuleRecord): RuleDocument => ({
  id: rule.id,
  slug: rule.slug,
  name: rule.name,
  description: rule.description,
  labels: [...rule.labels],
  folder: rule.folder,
  requestSchema: [...rule.requestSchema],
  responseSchema: [...rule.responseSchema],
  conditions: [...rule.conditions],
  groups: rule.groups,
  settings: rule.settings,
  testSuite: [...rule.testSuite],
  sampleRequest: rule.sampleRequest,
  sampleResponse: rule.sampleResponse,
  testRequest: rule.testRequest,
  metadata: rule.metadata,
  context: rule.context,
  published: rule.publishedVersion !== null,
  publishedAt: rule.publishedAt,
  version: rule.publishedVersion,
  createdAt: rule.createdAt,
  updatedAt: rule.updatedAt,
  updatedBy: rule.updatedBy,
});

/** A stored rule as lists show it: without rows, in snake case. */
export const toListed = (rule: RuleSummary): ListedRule => ({
  id: rule.id,
  name: rule.name,
  description: rule.description,
  slug: rule.slug,
  created_at: rule.createdAt,
  updated_at: rule.updatedAt,
  labels: [...rule.labels],
  published: rule.publishedVersion !== null,
  version: rule.publishedVersion,
  no_conditions: rule.rowCount,
  metadata: rule.metadata,
  user_groups: [...rule.userGroups],
  ...toListedLinks(rule),
  request_schema: toListedFields(rule.requestSchema),
  response_schema: toListedFields(rule.responseSchema),
});

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The folder and the context of a rule, which a draft holds as an object or as a bare name; absent where it has none. */
const toListedLinks = ({ folder, context }: RuleSummary): Pick<ListedRule, 'folder' | 'context'> => {
  const { id, name } = readLink(folder, 'name');
  const { id: contextId, name: contextName, slug } = readLink(context, 'slug');
  return {
    ...(id === undefined && name === undefined ? {} : { folder: withoutGaps({ id, name }) }),
    ...(contextId === undefined && slug === undefined
      ? {}
      : { context: withoutGaps({ id: contextId, name: contextName, slug }) }),
  };
};

type Link = Readonly<Partial<Record<'id' | 'name' | 'slug', string>>>;

const readLink = (link: unknown, bare: 'name' | 'slug'): Link => {
  if (typeof link === 'string') return { [UUID.test(link) ? 'id' : bare]: link };
  if (typeof link !== 'object' || link === null) return {};
  const texts = Object.entries(link).filter(([key, value]) => LINK_PARTS.has(key) && typeof value === 'string');
  return Object.fromEntries(texts);
};

const LINK_PARTS: ReadonlySet<string> = new Set(['id', 'name', 'slug']);

const withoutGaps = (link: { readonly [part in keyof Link]: string | undefined }): Link =>
  Object.fromEntries(Object.entries(link).filter(([, text]) => text !== undefined));

export const toListedFields = (fields: readonly RuleField[]): ListedField[] => fields.map(toListedField);

/** Lists speak the types of JSON; a function's result can be of any, so it has none. */
const LISTED_TYPES: Readonly<Record<FieldType, ListedField['type']>> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  date: 'string',
  list: 'array',
  object: 'object',
  function: undefined,
};

const toListedField = (field: RuleField): ListedField => {
  const type = LISTED_TYPES[field.type];
  return {
    key: field.key,
    show: field.show ?? true,
    name: field.name ?? field.key,
    description: field.description ?? null,
    ...(type === undefined ? {} : { type }),
    ...(field.defaultValue === undefined ? {} : { default_value: field.defaultValue }),
    ...(field.defaultComputedValue === undefined ? {} : { default_computed_value: field.defaultComputedValue }),
    ...(field.transform === undefined ? {} : { transform: field.transform }),
  };
};

/** Names a state of a draft: it changes with every change. */
export const ruleEtag = ({ updatedAt }: Pick<RuleRecord, 'updatedAt'>): string => `"${updatedAt}"`;

/** A caller's expectation of a rule before a change. */
export interface Expectation {
  /** ISO 8601: the `updatedAt` that the caller has seen. */
  readonly updatedAt?: string | undefined;
  /** The header `if-match`: entity tags, or `*` for any state. */
  readonly ifMatch?: string | undefined;
}

/** Whether a caller expects the rule to exist at all. */
export const expectsRule = ({ updatedAt, ifMatch }: Expectation): boolean =>
  updatedAt !== undefined || ifMatch !== undefined;

/** Whether a rule is as the caller expects it. A tag counts as strong where a proxy has made it weak. */
export const isAsExpected = (rule: Pick<RuleRecord, 'updatedAt'>, { updatedAt, ifMatch }: Expectation): boolean => {
  if (updatedAt !== undefined && Date.parse(updatedAt) !== Date.parse(rule.updatedAt)) return false;
  if (ifMatch === undefined || ifMatch.trim() === '*') return true;
  return ifMatch
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .includes(ruleEtag(rule));
};
