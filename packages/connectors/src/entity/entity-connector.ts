import { ServiceError } from '@decision/contracts';
import { isPlainObject } from '@decision/values';
import { type Connector, type ConnectorCall, ConnectorFailure, type NodeOutputs } from '../connector';
import { type EntityContext, type EntityState, type EntityStore } from './entity-store';

/** Records that one node writes at most. */
const MOST_RECORDS = 1_000;
/** Time for a node, ms; the deadline of the request may end it earlier. */
const TIME_MS = 3_600_000;

/**
 * Nodes that read and write instances of contexts. A repeated step writes nothing twice, so each may be repeated. See
 * docs/adr/0040-nodes-write-instances-in-their-own-process.md.
 */
export const createEntityConnector = (store: EntityStore): Connector => ({
  type: 'entity',
  timeoutMs: TIME_MS,
  isRepeatable: () => true,
  run: async (call) => {
    try {
      const { workspaceId, requestId, keyId, deadline, signal, within, idempotencyKey: key } = call;
      const contextSlug = String(call.fields['entitySlug']);
      const entity = await store.open({ workspaceId, contextSlug, requestId, keyId, deadline, signal, within, key });
      return await carryOut(entity, call);
    } catch (error) {
      throw error instanceof ServiceError ? failureOf(error) : error;
    }
  },
});

const carryOut = async (entity: EntityContext, call: ConnectorCall): Promise<NodeOutputs> => {
  const { operation = 'read' } = call.fields;
  switch (operation) {
    case 'read':
      return outputsOf(await entity.read(identityOf(entity, call), namesChosen(call.fields['includeRelations'])));
    case 'update': {
      const record = { ...factsGiven(entity, call), [entity.identityFact]: identityOf(entity, call) };
      const [written] = await entity.submit([record]);
      if (written !== undefined && 'error' in written) throw invalid(`The instance was not updated: ${written.error}`);
      return outputsOf(written?.state);
    }
    case 'delete':
      await entity.remove(identityOf(entity, call));
      return {};
    case 'batch_update':
      return updateAll(entity, call);
    default:
      throw invalid(`There is no operation ${JSON.stringify(operation)}; use read, update, delete or batch_update.`);
  }
};

const updateAll = async (entity: EntityContext, call: ConnectorCall): Promise<NodeOutputs> => {
  const { records } = call.inputs;
  if (!Array.isArray(records)) throw invalid('The input "records" must be a list of objects with facts.');
  if (records.length > MOST_RECORDS)
    throw invalid(
      `The input "records" has ${records.length.toLocaleString('en')} items, and ${MOST_RECORDS.toLocaleString('en')} are the limit; iterate over the list in a loop, or write fewer.`,
    );
  const written = await entity.submit(records.map((record: unknown) => recordOf(entity, call, record)));
  return { results: written.map((result, index) => ({ index, ...result })) };
};

/** Anything else than an object stays as it is: it is rejected with its index. */
const recordOf = (entity: EntityContext, { fields }: ConnectorCall, record: unknown): unknown => {
  if (!isPlainObject(record)) return record;
  const key = typeof fields['identityFieldKey'] === 'string' ? fields['identityFieldKey'] : entity.identityFact;
  const { [key]: identity, ...facts } = record;
  const values = { ...valuesOf(fields), ...chosenOf(fields, facts) };
  return identity === undefined ? values : { ...values, [entity.identityFact]: identity };
};

/** The input that holds it, or else the literal of its fact. */
const identityOf = ({ identityFact }: EntityContext, { fields, inputs }: ConnectorCall): unknown => {
  const key = identityKeyOf(identityFact, fields);
  return valueAt(inputs, key) ?? valueAt(valuesOf(fields), identityFact);
};

const identityKeyOf = (identityFact: string, fields: ConnectorCall['fields']): string =>
  typeof fields['identityFieldKey'] === 'string' ? fields['identityFieldKey'] : identityFact;

/** A literal counts if no input of its name has a value. */
const factsGiven = ({ identityFact }: EntityContext, { fields, inputs }: ConnectorCall): EntityState => {
  const { [identityKeyOf(identityFact, fields)]: _identity, ...facts } = inputs;
  return { ...valuesOf(fields), ...chosenOf(fields, facts) };
};

const valuesOf = ({ updateValues }: ConnectorCall['fields']): Readonly<Record<string, unknown>> =>
  isPlainObject(updateValues) ? updateValues : {};

/** The given facts that the node writes. */
const chosenOf = ({ selectedUpdateFields: chosen }: ConnectorCall['fields'], facts: EntityState): EntityState =>
  isPlainObject(chosen)
    ? Object.fromEntries(Object.entries(facts).filter(([name]) => valueAt(chosen, name) === true))
    : facts;

const namesChosen = (chosen: unknown): readonly string[] =>
  isPlainObject(chosen) ? Object.keys(chosen).filter((name) => chosen[name] === true) : [];

const valueAt = (values: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(values, key) ? values[key] : undefined;

const outputsOf = (state: EntityState | undefined): NodeOutputs => (state === undefined ? {} : { ...state, state });

const invalid = (message: string): ConnectorFailure => new ConnectorFailure(message, { outcome: 'invalid' });

/** The node or its inputs are at fault. */
const INVALID: ReadonlySet<string> = new Set([
  'context_not_found',
  'evaluation_failed',
  'facts_invalid',
  'invalid_request',
]);
const TOO_LARGE: ReadonlySet<string> = new Set(['payload_too_large', 'result_too_large']);
/** The same request may succeed later. */
const PASSING: ReadonlySet<string> = new Set(['context_changed', 'database_unavailable', 'operation_interrupted']);

const RETRY_AFTER_MS = 1_000;

/** A fault of this program is rethrown: it is logged, and callers get one general sentence. */
const failureOf = (error: ServiceError): Error => {
  const { code, message } = error;
  if (INVALID.has(code)) return invalid(message);
  if (TOO_LARGE.has(code)) return new ConnectorFailure(message, { outcome: 'refused' });
  if (code === 'deadline_exceeded') return new ConnectorFailure(message, { outcome: 'timeout' });
  if (code === 'overloaded')
    return new ConnectorFailure(message, { outcome: 'busy', mayRetry: true, retryAfterMs: RETRY_AFTER_MS });
  if (code === 'infrastructure_error' || PASSING.has(code))
    return new ConnectorFailure(message, { mayRetry: PASSING.has(code) });
  return error;
};
