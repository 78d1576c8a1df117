import { type Cache, decodeEnvelope, encodeEnvelope } from '@decision/cache';
import { cacheKeys, type FlowNodeType, type FlowOutput, type Validator } from '@decision/contracts';
import { fitsType, nodeKinds, type OutsideCall, type Secret } from '@decision/flows';
import { isPlainObject } from '@decision/values';
import { type NodeOutputs } from '../connector';
import { fillTemplate } from '../templates';
import { canonicalText, digestOf } from './identity';

/** Seconds that outputs are kept: the default, and the bounds of a node's setting. */
const SECONDS = { default: 60, least: 1, most: 300 } as const;
/** Outputs that take more characters as JSON are not cached. */
const MAX_LENGTH = 1_048_576;
/** Part of every key; a new number makes earlier entries unreachable. */
const FORMAT = '1';

/** The part of the shared cache that results need. */
export type ResultStore = Pick<Cache, 'shared' | 'seal'>;

/** A node with what it is given. */
type KeptCall = Pick<OutsideCall, 'node' | 'inputs'>;

/** Store of the outputs of one call. */
interface ResultEntry {
  /** The outputs that are kept; undefined if there are none, or none that this version accepts. */
  readonly read: () => Promise<NodeOutputs | undefined>;
  readonly write: (outputs: NodeOutputs) => Promise<void>;
}

/**
 * The entry of a call, if its node says `useCache` and its type supports it; undefined otherwise. A call with secrets has one only if
 * entries are sealed: the secrets then take part in the key by a keyed hash.
 */
export const resultEntryOf = (
  { shared, seal }: ResultStore,
  workspaceId: string,
  call: KeptCall,
): ResultEntry | undefined => {
  const { type, fields } = call.node;
  // Outputs of other types may contain values that JSON does not carry, such as secrets.
  const mayBeKept = 'useCache' in nodeKinds[type as FlowNodeType].fields.properties;
  if (fields['useCache'] !== true || !mayBeKept) return undefined;
  let isKeyed = true;
  const ofSecret = (secret: Secret): string => {
    isKeyed &&= seal !== undefined;
    return seal?.('node-secret', secret.reveal()).toString('base64url') ?? '';
  };
  const digest = digestOf(FORMAT, type, canonicalText(contentOf(fields), ofSecret), keyOf(call, ofSecret));
  if (!isKeyed) return undefined;
  const key = cacheKeys.nodeResult(workspaceId, digest);
  const validate = validatorOf(call.node);
  return {
    read: async () => {
      const text = await shared.get(key);
      return text === undefined ? undefined : decodeEnvelope(key, text, { validate, now: Date.now(), seal })?.value;
    },
    write: async (outputs) => {
      const text = encodeEnvelope(key, { value: outputs, loadedAt: Date.now() }, seal);
      if (text === undefined || text.length > MAX_LENGTH) return;
      await shared.set(key, text, { ttlMs: secondsOf(fields['cacheExpiration']) * 1_000 });
    },
  };
};

/** The part of a node that decides its outputs: neither its name nor its failure handling. */
const contentOf = (fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const rest: Record<string, unknown> = { ...fields };
  for (const key of ['ref', 'name', 'timeoutMs', 'retries', 'onError', 'defaultOutputs', 'cacheExpiration'])
    delete rest[key];
  return rest;
};

const keyOf = ({ node, inputs }: KeptCall, ofSecret: (secret: Secret) => string): string => {
  const own = node.fields['cacheKey'];
  if (typeof own !== 'string' || own === '') return canonicalText(inputs, ofSecret);
  return `key ${fillTemplate(own, inputs, (value) => canonicalText(value, ofSecret))}`;
};

const secondsOf = (asked: unknown): number =>
  typeof asked === 'number' && !Number.isNaN(asked)
    ? Math.min(SECONDS.most, Math.max(SECONDS.least, Math.floor(asked)))
    : SECONDS.default;

/** Accepts outputs of the types that the node declares; an entry of another version may hold anything. */
const validatorOf = ({ type, fields }: OutsideCall['node']): Validator<NodeOutputs> => {
  // Nodes of a compiled flow have a known type and valid fields.
  const declared = (fields['outputs'] ?? []) as readonly FlowOutput[];
  const types = [
    ...Object.entries(nodeKinds[type as FlowNodeType].outputs),
    ...declared.map(({ key, type: of = 'any' }) => [key, of] as const),
  ];
  return (value) =>
    isPlainObject(value) && types.every(([key, of]) => fitsType(Object.hasOwn(value, key) ? value[key] : undefined, of))
      ? { ok: true, value }
      : { ok: false, problems: [] };
};
