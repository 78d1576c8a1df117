import { type DatabaseFacts, judgeDatabase, judgeServer } from './check-database';

const good: DatabaseFacts = {
  versionNumber: 170010,
  walLevel: 'logical',
  pending: [],
  user: 'decision',
  runtimeRoleBypassesRowSecurity: false,
  mayActAsRuntimeRole: true,
};

describe('judgeServer', () => {
  it.each([160000, 160014, 170000, 170010, 180001])('accepts version %i', (versionNumber) => {
    expect(judgeServer({ versionNumber, walLevel: 'logical' })).toEqual([]);
  });

  it.each([
    [159999, '15'],
    [150004, '15'],
    [90624, '9'],
  ])('refuses version %i', (versionNumber, major) => {
    expect(judgeServer({ versionNumber, walLevel: 'logical' })).toEqual([
      `The database server is PostgreSQL ${major}; 16 or 17 is needed. Upgrade the server.`,
    ]);
  });

  it.each(['replica', 'minimal'])('refuses wal_level %s and says what to set', (walLevel) => {
    expect(judgeServer({ versionNumber: 170000, walLevel })).toEqual([
      `The database server has wal_level = ${walLevel}; logical is needed. Set wal_level = logical in its configuration and restart it.`,
    ]);
  });

  it('reports every fault at once', () => {
    expect(judgeServer({ versionNumber: 140000, walLevel: 'replica' })).toHaveLength(2);
  });
});

describe('judgeDatabase', () => {
  it('finds nothing wrong with a good one', () => {
    expect(judgeDatabase(good)).toEqual([]);
  });

  it.each<[Partial<DatabaseFacts>, RegExp]>([
    [{ pending: ['0002-api-keys', '0003-rules'] }, /lacks the migrations 0002-api-keys, 0003-rules\. Run/],
    [{ mayActAsRuntimeRole: false }, /GRANT decision_runtime TO "decision" WITH INHERIT FALSE, SET TRUE;/],
    [{ runtimeRoleBypassesRowSecurity: true }, /ALTER ROLE decision_runtime NOSUPERUSER NOBYPASSRLS;/],
    [{ walLevel: 'replica' }, /wal_level/],
  ])('with %p says what to run', (facts, sentence) => {
    expect(judgeDatabase({ ...good, ...facts })).toEqual([expect.stringMatching(sentence)]);
  });

  it('does not ask for a grant before the migrations, which make it, have run', () => {
    expect(judgeDatabase({ ...good, pending: ['0001-workspaces'], mayActAsRuntimeRole: false })).toHaveLength(1);
  });
});
