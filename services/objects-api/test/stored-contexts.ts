import { randomUUID } from 'node:crypto';
import { contextSettings, defaultValues } from '@decision/contracts';
import { insertContext, insertRelationship, lockContextWorld } from '@decision/persistence';
import { type ObjectsApiUnderTest } from './objects-api-under-test';

/** A workspace of the service. */
interface WorkspaceUnderTest {
  readonly api: Pick<ObjectsApiUnderTest, 'database'>;
  readonly workspaceId: string;
}

interface StoredContext {
  readonly id: string;
  readonly slug: string;
}

type NewContext = Parameters<typeof insertContext>[1];
type NewRelationship = Parameters<typeof insertRelationship>[2];

/** Stores a context, since another service has the endpoint for it. What is not given has its default; the slug is generated. */
export const addContext = async (
  { api, workspaceId }: WorkspaceUnderTest,
  parts: Pick<NewContext, 'identityFact' | 'schema'> & Partial<NewContext>,
): Promise<StoredContext> => {
  const id = randomUUID();
  const { slug = `context-${id}` } = parts;
  const context = { ...defaultValues(contextSettings), id, name: slug, userGroups: [], folderId: null, ...parts, slug };
  await api.database.inWorkspace({ workspaceId, userGroups: undefined }, async (transaction) => {
    await lockContextWorld(transaction);
    await insertContext(transaction, context);
  });
  return { id, slug };
};

/** Stores a relationship of a context to many instances of another. */
export const addRelationship = async (
  { api, workspaceId }: WorkspaceUnderTest,
  from: StoredContext,
  parts: Pick<NewRelationship, 'toContextId' | 'name' | 'foreignKeyFact'>,
): Promise<void> => {
  const relationship = {
    id: randomUUID(),
    fromContextId: from.id,
    description: null,
    type: 'has_many',
    ...parts,
  } as const;
  await api.database.inWorkspace({ workspaceId, userGroups: undefined }, async (transaction) => {
    await lockContextWorld(transaction);
    await insertRelationship(transaction, { slug: from.slug, userGroups: [] }, relationship);
  });
};
