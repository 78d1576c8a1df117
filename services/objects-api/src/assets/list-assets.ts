import {
  type AssetKind,
  type FieldType,
  type ListedField,
  type ListedRule,
  type ListFlowsQuery,
  type RuleField,
  ServiceError,
} from '@decision/contracts';
import { type AssetFilters, type AssetSummary, listAssets, type Transaction } from '@decision/persistence';

/** Fields that lists show of both rules and flows. */
export const listedMembers = <K extends AssetKind>({ folder, context, ...asset }: AssetSummary<K>) => ({
  ...asset,
  ...toListedLinks({ folder, context }),
  requestSchema: toListedFields(asset.requestSchema),
  published: asset.publishedVersion !== null,
  version: asset.publishedVersion,
});

/** The filters of a query. */
export const filtersOf = (query: Omit<ListFlowsQuery, 'version' | 'limit' | 'cursor'>): AssetFilters => {
  const { id, slug, name, search, folder, user_group: userGroup, labels } = query;
  return { id, slug, name, search, folder, userGroup, labels: labels && readLabels(labels) };
};

/** Labels that are separated by commas, given in separate parameters, or both. */
const readLabels = (labels: readonly string[]): readonly string[] =>
  labels
    .flatMap((text) => text.split(','))
    .map((label) => label.trim())
    .filter((label) => label !== '');

/** The only asset that passes the filters. Throws `invalid_request` if several do, and `rule_not_found` or `flow_not_found` if none does. */
export const findOnly = async <K extends AssetKind>(
  transaction: Transaction,
  kind: K,
  filters: AssetFilters,
): Promise<AssetSummary<K>> => {
  const { assets } = await listAssets(transaction, kind, filters, { limit: 2 });
  const [asset] = assets;
  if (asset === undefined)
    throw new ServiceError(`${kind}_not_found`, `No ${kind} that this key sees passes the filters.`);
  if (assets.length === 1) return asset;
  const message = `needs filters that match exactly one ${kind}; several match`;
  throw new ServiceError('invalid_request', `The parameter "version" ${message}.`, {
    problems: [{ in: 'query', path: '/version', message }],
  });
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The folder and the context of an asset, which a draft holds as an object or as a bare name; absent if it has none. */
const toListedLinks = ({
  folder,
  context,
}: Pick<AssetSummary<AssetKind>, 'folder' | 'context'>): Pick<ListedRule, 'folder' | 'context'> => {
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

/** Lists use JSON types; a function's result can have any type, so it has none. */
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
