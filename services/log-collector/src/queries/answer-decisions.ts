import { type DecisionLogEntry } from '@decision/contracts';
import { type DecisionItemRecord } from '@decision/decision-logs';

/** The items of one decision. */
export type DecisionItems = readonly [DecisionItemRecord, ...DecisionItemRecord[]];

/** Joins the items of decisions, in the order of the given ids. */
export const byDecision = (ids: readonly string[], items: readonly DecisionItemRecord[]): readonly DecisionItems[] => {
  const byId = new Map<string, DecisionItemRecord[]>();
  for (const item of items) {
    const known = byId.get(item.id);
    if (known === undefined) byId.set(item.id, [item]);
    else known.push(item);
  }
  return ids.flatMap((id) => {
    const [first, ...rest] = byId.get(id) ?? [];
    return first === undefined ? [] : [[first, ...rest]];
  });
};

/** A decision as shown to clients. `hidesKeys`: without the key that asked. */
export const toEntry = (items: DecisionItems, hidesKeys: boolean): DecisionLogEntry => {
  const [first] = items;
  const found = items.filter(({ passes }) => passes);
  const statuses = (found.length === 0 ? items : found).map(({ status }) => status);
  const error = items.map(({ response }) => errorOf(response)).find((sentence) => sentence !== undefined);
  return {
    id: first.id,
    timestamp: first.decidedAt,
    name: first.slug,
    endpoint: endpointOf(first),
    status: Math.max(...statuses),
    ...(first.isOfList ? partsOfList(items, found) : partsOfOne(first)),
    decision: factsOf(items, hidesKeys),
    ...(first.traceId === null ? {} : { trace_id: first.traceId }),
    ...(error === undefined || items.every(({ errorCode }) => errorCode === null) ? {} : { error }),
    abbreviated: items.some(({ isAltered }) => isAltered) || items.length < first.shownItems,
  };
};

const partsOfOne = ({ request, response, pathTrace }: DecisionItemRecord) => ({
  ...(request === null ? {} : { request: asObject(request) }),
  response: asObject(response),
  ...(Array.isArray(pathTrace) ? { path_trace: pathTrace as unknown[] } : {}),
});

const partsOfList = (items: DecisionItems, found: readonly DecisionItemRecord[]) => ({
  request: items.map(({ request }) => request),
  response: { results: items.map(({ response }) => response) },
  ...(items.some(({ pathTrace }) => pathTrace !== null) ? { path_trace: items.map(({ pathTrace }) => pathTrace) } : {}),
  matched_items: found.map(({ item }) => item),
});

const factsOf = (items: DecisionItems, hidesKeys: boolean): DecisionLogEntry['decision'] => {
  const [
    { kind, assetId, selector, versionId, contextSlug, instance, flowSlug, executionId, requestId, keyId, standsFor },
  ] = items;
  return {
    type: kind,
    ...(assetId === null ? {} : { asset_id: assetId }),
    selector,
    ...(versionId === '' ? {} : { version_id: versionId }),
    ...(contextSlug === null ? {} : { context: contextSlug }),
    ...(instance === null ? {} : { instance }),
    ...(flowSlug === null ? {} : { flow: flowSlug }),
    ...(executionId === null ? {} : { execution_id: executionId }),
    ...(standsFor === 1 ? {} : { stands_for: standsFor }),
    request_id: requestId,
    ...(hidesKeys ? {} : { key_id: keyId }),
    items: items.map(({ item, status, errorCode, durationUs, matched }) => ({
      index: item,
      status,
      ...(errorCode === null ? {} : { code: errorCode }),
      duration_ms: durationUs / 1_000,
      matched: [...matched],
    })),
  };
};

const endpointOf = ({ kind, isOfList, slug, selector }: DecisionItemRecord): string => {
  const call = kind === 'flow' ? 'flows' : isOfList ? 'bulk-solve' : 'solve';
  return `/api/v1/${call}/${slug}${selector === '' ? '' : `/${selector}`}`;
};

/** Clients expect an object. */
const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : { value };

const errorOf = (response: unknown): string | undefined => {
  const error: unknown = asObject(response)['error'];
  return typeof error === 'string' ? error : undefined;
};
