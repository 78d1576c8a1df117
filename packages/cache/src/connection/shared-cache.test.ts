import type { Outcome } from './guarded-commands';
import { createSharedCache } from './shared-cache';

const DEADLINE_MS = 100;

/** A shared cache in which every command ends as given, after `tookMs`. */
const setup = (outcome: Outcome<unknown>, tookMs = 0) => {
  const owed: string[] = [];
  const shared = createSharedCache({
    commands: {
      run: async <T>() => {
        await jest.advanceTimersByTimeAsync(tookMs);
        return outcome as Outcome<T>; // The test decides what the server answers.
      },
    },
    eraser: {
      owe: (keys) => void owed.push(...keys),
      flush: () => Promise.resolve(),
      size: () => 0,
      close: () => undefined,
    },
    keyPrefix: '',
    commandTimeoutMs: DEADLINE_MS,
  });
  return { shared, owed };
};

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const answered = { kind: 'answered', value: 'OK' } as const;

describe('a write', () => {
  it.each([
    ['was confirmed in time', answered, DEADLINE_MS, []],
    ['was confirmed late, because this process was paused', answered, DEADLINE_MS + 1, ['k']],
    ['may or may not be executed', { kind: 'unknown' } as const, 0, ['k']],
    ['was not sent', { kind: 'skipped' } as const, 0, []],
    ['was refused', { kind: 'refused' } as const, 0, []],
  ])('that %s', async (_what, outcome, tookMs, debts) => {
    const { shared, owed } = setup(outcome, tookMs);
    await shared.set('k', 'text');
    expect(owed).toEqual(debts);
  });
});

describe('a delete', () => {
  it.each([
    [answered, []],
    [{ kind: 'unknown' } as const, ['a', 'b']],
    [{ kind: 'skipped' } as const, ['a', 'b']],
    [{ kind: 'refused' } as const, ['a', 'b']],
  ])('that ended as %j is owed: %j', async (outcome, debts) => {
    const { shared, owed } = setup(outcome);
    await shared.delete(['a', 'b']);
    expect(owed).toEqual(debts);
  });
});

describe('a read', () => {
  it.each([{ kind: 'unknown' }, { kind: 'skipped' }, { kind: 'refused' }, { kind: 'answered', value: null }] as const)(
    'that ended as %j finds nothing',
    async (outcome) => {
      await expect(setup(outcome).shared.get('k')).resolves.toBeUndefined();
    },
  );
});
