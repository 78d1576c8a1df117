import { type StoredApiKey } from '@decision/contracts';
import { accessOfKey } from './workspace-access';

const key: StoredApiKey = {
  id: '2b8f8a0e-58a6-4f0c-9df0-6c3f9f0f7b21',
  workspaceId: '5f9c1f4e-7f4b-4c55-8a49-2f7f0a8f1d11',
  selector: 'q3v9k2m7p4xw',
  secretHash: '00'.repeat(32),
  role: 'developer',
  entitlements: [],
  userGroups: [],
  expiresAt: null,
  revokedAt: null,
};

describe('accessOfKey', () => {
  it('does not restrict a key without groups', () => {
    expect(accessOfKey(key)).toEqual({ workspaceId: key.workspaceId, userGroups: undefined, actor: `key:${key.id}` });
  });

  it('restricts a key to its groups', () => {
    expect(accessOfKey({ ...key, userGroups: ['sales', 'ops'] }).userGroups).toEqual(['sales', 'ops']);
  });
});
