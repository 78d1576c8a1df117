import { type Static, Type } from '@sinclair/typebox';
import { type AssetKind } from '../asset-pointer';
import { ExecutionRecord } from './context-answers';

/**
 * A record of executions as it is stored and sent: about half as large, since it leaves out what follows from the rest. Its key names type and
 * slug. A missing status is `success`. Version and inputs are those of the last success, and the facts that were written are those that the
 * asset owns, unless they are given (docs/adr/0081-packed-executions.md).
 */
export const PackedExecution = Type.Composite([
  Type.Partial(Type.Omit(ExecutionRecord, ['run_count', 'timestamp'])),
  Type.Pick(ExecutionRecord, ['run_count', 'timestamp']),
]);
export type PackedExecution = Static<typeof PackedExecution>;

/** Records by the key of their asset, `<type>:<slug>`. */
type ByAsset<T> = Readonly<Record<string, T>>;

/** Leaves out what {@link unpackExecutions} concludes. */
export const packExecutions = (executions: ByAsset<ExecutionRecord>): Record<string, PackedExecution> => {
  const packed: Record<string, PackedExecution> = {};
  for (const [key, record] of Object.entries(executions)) packed[key] = pack(record);
  return packed;
};

/** Complete records; those that were stored by an earlier release are complete already. */
export const unpackExecutions = (executions: ByAsset<PackedExecution>): Record<string, ExecutionRecord> => {
  const unpacked: Record<string, ExecutionRecord> = {};
  for (const [key, record] of Object.entries(executions)) unpacked[key] = unpack(key, record);
  return unpacked;
};

const pack = ({
  type: _type,
  slug: _slug,
  status,
  effective_version,
  input_hash,
  written_to_context,
  ...kept
}: ExecutionRecord): PackedExecution => {
  const { last_success: last, owned_facts: owned } = kept;
  const isLast = last?.effective_version === effective_version && last.input_hash === input_hash;
  return {
    ...(status === 'success' ? {} : { status }),
    ...(isLast ? {} : { effective_version, input_hash }),
    ...(owned !== undefined && isSameList(owned, written_to_context) ? {} : { written_to_context }),
    ...kept,
  };
};

const unpack = (key: string, record: PackedExecution): ExecutionRecord => {
  const colon = key.indexOf(':');
  return {
    type: key.slice(0, colon) as AssetKind, // as it was packed
    slug: key.slice(colon + 1),
    status: 'success',
    effective_version: '',
    input_hash: '',
    ...record.last_success,
    written_to_context: record.owned_facts ?? [],
    ...record,
  };
};

const isSameList = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((entry, index) => entry === other[index]);
