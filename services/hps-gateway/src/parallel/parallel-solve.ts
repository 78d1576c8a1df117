import { isUtf8 } from 'node:buffer';
import { fixedLimits, ServiceError } from '@decision/contracts';
import { itemTooLarge } from '../bulk/bulk-faults';
import { inOrder } from '@decision/service-kit';
import { findMembers, type Member } from '../json/find-members';
import { type OpenSolve, type SolveRequest } from '../solve';
import { type ParallelEntry, readEntry } from './parallel-entry';

interface ParallelLimits {
  /** Largest single entry, bytes. */
  readonly itemMaxBytes: number;
}

/** Fields that all entries of a request share. */
type ParallelRequest = Omit<SolveRequest, 'slug' | 'selector'>;

/** Entries of one request that are at workers at once. */
const ENTRIES_AT_ONCE = { maxItems: 64, maxWeight: 16 * fixedLimits.chunkBytes };

/**
 * Solves the named entries of a body side by side and answers their results under the same names, in the order of the body. An entry
 * that fails says so in its place, whatever became of the others. Throws `ServiceError` for a body that is no object of entries.
 */
export const solveParallel = async (
  body: Buffer,
  request: ParallelRequest,
  openSolve: OpenSolve,
  limits: ParallelLimits,
): Promise<Buffer> => {
  const members = await readMembers(body);
  const parts: Buffer[] = [];
  const solveOne = (member: Member): Promise<Buffer> => solveEntry(body, member, request, openSolve, limits);
  const weightOf = ({ valueStart, valueEnd }: Member): number => valueEnd - valueStart;
  const results = inOrder(each(members), solveOne, { ...ENTRIES_AT_ONCE, weightOf });
  let index = 0;
  for await (const result of results) {
    const { keyStart, keyEnd } = members[index] ?? { keyStart: 0, keyEnd: 0 };
    parts.push(Buffer.from(index === 0 ? '{' : ',\n'), body.subarray(keyStart, keyEnd), Buffer.from(':'), result);
    index += 1;
  }
  return Buffer.concat([...(index === 0 ? [Buffer.from('{')] : parts), Buffer.from('}')]);
};

// eslint-disable-next-line @typescript-eslint/require-await -- a list as the asynchronous source that a stream also is
async function* each(members: readonly Member[]): AsyncGenerator<Member, void, undefined> {
  yield* members;
}

const readMembers = async (body: Buffer): Promise<readonly Member[]> => {
  if (!isUtf8(body)) throw new ServiceError('invalid_json', 'The body is not UTF-8 text.');
  const found = await findMembers(body, fixedLimits.listDepth);
  if (!found.ok) {
    const { kind, reason, position, line, column } = found.fault;
    if (kind === 'syntax') {
      const sentence = `The body is not JSON: ${reason} at position ${position} (line ${line}, column ${column}).`;
      throw new ServiceError('invalid_json', sentence, { position, line, column });
    }
    throw new ServiceError(
      'invalid_request',
      `The body of a parallel request is an object of named entries: ${reason}.`,
      {
        problems: [{ in: 'body', path: '', message: reason }],
      },
    );
  }
  const { parallelEntries: limit } = fixedLimits;
  if (found.members.length <= limit) return found.members;
  throw new ServiceError(
    'too_many_items',
    `The request has ${found.members.length} entries; at most ${limit} are allowed.`,
    {
      limit_items: limit,
    },
  );
};

const solveEntry = async (
  body: Buffer,
  { valueStart, valueEnd }: Member,
  request: ParallelRequest,
  openSolve: OpenSolve,
  { itemMaxBytes }: ParallelLimits,
): Promise<Buffer> => {
  try {
    if (valueEnd - valueStart > itemMaxBytes) throw itemTooLarge(undefined, itemMaxBytes);
    const entry = await readEntry(body.subarray(valueStart, valueEnd));
    requireRule(entry);
    const evaluate = await openSolve({ ...request, slug: entry.slug, selector: entry.selector });
    return await evaluate('solve', entry.input);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { message, status, code } = error;
    return Buffer.from(JSON.stringify({ $error: { message, status, code } }));
  }
};

const requireRule = ({ asset, slug }: ParallelEntry): void => {
  if (asset === 'rule') return;
  throw new ServiceError('flow_not_found', `No flow with the slug "${slug}" is visible to this key.`, { slug });
};
