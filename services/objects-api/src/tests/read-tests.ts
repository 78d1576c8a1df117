import { type TestPolicy, testPolicies } from '@decision/contracts';

type JsonObject = Readonly<Record<string, unknown>>;

/** A test as a draft holds it, with nothing left out. */
export interface StoredTest {
  readonly id: string;
  readonly name: string;
  readonly request: JsonObject;
  readonly response: JsonObject;
  readonly policy: TestPolicy;
  readonly critical: boolean;
}

/** Reads the test suite of a draft. Imports may hold anything: what is missing takes its default, what is no object is empty. */
export const readTests = (suite: readonly JsonObject[]): readonly StoredTest[] =>
  suite.map((entry, index) => ({
    id: typeof entry['id'] === 'string' ? entry['id'] : `test-${index + 1}`,
    name: typeof entry['name'] === 'string' ? entry['name'] : `Test ${index + 1}`,
    request: objectOf(entry['request']),
    response: objectOf(entry['response']),
    policy: testPolicies.find((policy) => policy === entry['policy']) ?? 'contains',
    critical: entry['critical'] === true,
  }));

const objectOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};

/** Gives every test of an import an id of its own; those that have one keep it. */
export const withTestIds = (suite: readonly JsonObject[], newId: () => string): Record<string, unknown>[] => {
  const taken = new Set<unknown>();
  return suite.map((entry) => {
    const { id } = entry;
    const kept = typeof id === 'string' && id !== '' && !taken.has(id);
    const known = kept ? id : newId();
    taken.add(known);
    return kept ? { ...entry } : { ...entry, id: known };
  });
};
