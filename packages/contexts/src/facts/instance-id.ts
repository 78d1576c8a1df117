import { contextLimits } from '@decision/contracts';
import { kindOfValue } from './fact-type';
import { isUnprintable, quoted } from './facts';

type IdentityReading =
  { readonly ok: true; readonly instanceId: string } | { readonly ok: false; readonly error: string };

/** The part of the identity fact that reading an id needs. */
export interface IdentityFact {
  readonly key: string;
  readonly type: 'string' | 'number';
}

const failure = (error: string): IdentityReading => ({ ok: false, error });

/** The id of the instance that a value of the identity fact names (C20). */
export const readIdentity = (identity: IdentityFact, value: unknown): IdentityReading => {
  const { key, type } = identity;
  if (value === undefined || value === null) return failure(`the identity fact ${quoted(key)} is missing`);
  if (typeof value !== type || (type === 'number' && !Number.isFinite(value))) {
    return failure(`the identity fact ${quoted(key)} must be a ${type}, not ${kindOfValue(value)}`);
  }
  const instanceId = typeof value === 'string' ? value : JSON.stringify(value);
  const fault = faultOfInstanceId(instanceId);
  return fault === undefined ? { ok: true, instanceId } : failure(`the identity fact ${quoted(key)} ${fault}`);
};

/** Why a text cannot be an instance id, as the end of a sentence; undefined if it can. */
const faultOfInstanceId = (id: string): string | undefined => {
  if (id.length === 0) return 'is empty';
  if (id.length > contextLimits.instanceIdLength) return `is longer than ${contextLimits.instanceIdLength} characters`;
  return isUnprintable(id) ? 'holds a control character or half of a character' : undefined;
};

/** The value of the identity fact that an id in a path refers to; undefined if there is none. */
export const identityValueOf = ({ type }: IdentityFact, instanceId: string): string | number | undefined => {
  if (faultOfInstanceId(instanceId) !== undefined) return undefined;
  if (type === 'string') return instanceId;
  const value = Number(instanceId);
  return Number.isFinite(value) && JSON.stringify(value) === instanceId ? value : undefined;
};

/** The instance that a foreign key links to; undefined if it links to none (C110). */
export const linkedInstance = (value: unknown): string | undefined => {
  const id = typeof value === 'number' && Number.isFinite(value) ? JSON.stringify(value) : value;
  return typeof id === 'string' && faultOfInstanceId(id) === undefined ? id : undefined;
};
