import { type Static, Type } from '@sinclair/typebox';
import { type Operation } from '../operation';
import { nextCursor, nullable, pageQueryFields, timeParameter, timestamp } from '../../page-schema';
import { described } from '../../described';

const document = nullable(Type.Record(Type.String(), Type.Unknown()));

export const AuditEntry = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the entry, a UUID.' }),
    created_at: described(timestamp, 'When the change was made, ISO 8601 in UTC.'),
    actor: Type.Object(
      {
        id: described(
          nullable(
            Type.String({
              description: 'Id of the API key, `user:<id>` of a person; another text for what is neither.',
            }),
          ),
          'Id of the API key, `user:<id>` of a person, or another text for neither; null if the caller is unknown.',
        ),
        name: described(
          nullable(Type.String({ description: 'What the key was called then, or the address of the person.' })),
          'Name of the key at that time, or the address of the person; null if the caller is unknown.',
        ),
      },
      { description: 'Who made the change.' },
    ),
    address: described(
      nullable(Type.String({ description: 'Address of the client.' })),
      'Address of the client; null if it is not known.',
    ),
    request_id: described(nullable(Type.String()), 'Id of the request that made the change; null if no request did.'),
    action: Type.String({ description: '`create`, `update`, `delete`, `publish`, `revoke` and so on.' }),
    kind: Type.String({ description: 'What kind of thing changed: `rule`, `value`, `api_key` and so on.' }),
    subject: Type.Object(
      {
        id: Type.String({ description: 'Id of what was changed.' }),
        name: Type.String({ description: 'What it was called then.' }),
      },
      { description: 'What was changed.' },
    ),
    before: described(document, 'Fields as they were; of an update those that differ. Null for what is new.'),
    after: described(document, 'Fields after the change; for an update only those that differ. Null for a deletion.'),
  },
  {
    $id: 'AuditEntry',
    description:
      'One change. Of an update only the fields that differ are shown; secrets are masked, and a field above 64 KiB is shown as its size ' +
      'and hash.',
  },
);
export type AuditEntry = Static<typeof AuditEntry>;

const AuditPage = Type.Object(
  {
    data: Type.Array(AuditEntry, { description: 'The entries of this page.' }),
    next_cursor: described(nextCursor, 'Give it as `cursor` to read the next page; null on the last page.'),
  },
  { $id: 'AuditPage', description: 'One page of changes, newest first.' },
);
type AuditPage = Static<typeof AuditPage>;

const word = (description: string, example: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, description, examples: [example] }));

const ListAuditQuery = Type.Object(
  {
    kind: word('Kind of thing: `rule`, `value`, `object`, `api_key`, `release`, `user` ...', 'rule'),
    action: word('What was done.', 'publish'),
    id: word('Id of what changed.', '5f9c1f4e-7f4b-4c55-8a49-2f7f0a8f1d11'),
    actor: word('Id of the API key that did it, or `user:<id>` of the person.', '2b8f8a0e-58a6-4f0c-9df0-6c3f9f0f7b21'),
    since: Type.Optional(timeParameter('From this moment on.', '2026-01-01T00:00:00Z')),
    until: Type.Optional(timeParameter('Before this moment.', '2026-02-01T00:00:00Z')),
    ...pageQueryFields,
  },
  { $id: 'ListAuditQuery', additionalProperties: false, description: 'Which changes, and which page of them.' },
);
type ListAuditQuery = Static<typeof ListAuditQuery>;

export const listAudit = {
  service: 'objects-api',
  tag: 'Audit',
  id: 'listAudit',
  method: 'get',
  path: '/api/v1/admin/audit',
  pathParameters: [],
  summary: 'Read who changed what',
  description: 'Every change of a rule, value, object, key and so on, with who made it and what differs.',
  entitlement: 'audit.read',
  query: ListAuditQuery,
  success: {
    status: 200,
    description: 'Changes that the key may know of, newest first.',
    schema: AuditPage,
    example: {
      data: [
        {
          id: '8f3f6c0a-2f1a-4d8b-9a39-3f1b9a1f2c10',
          created_at: '2026-01-15T09:30:00.000Z',
          actor: { id: '2b8f8a0e-58a6-4f0c-9df0-6c3f9f0f7b21', name: 'CI' },
          address: '192.0.2.7',
          request_id: '0b0e6a4a-0c5e-4f5f-9d5b-3f0f5f4f3c11',
          action: 'update',
          kind: 'rule',
          subject: { id: '5f9c1f4e-7f4b-4c55-8a49-2f7f0a8f1d11', name: 'shipping-price' },
          before: { description: null },
          after: { description: 'Parcels up to 30 kg.' },
        },
      ],
      next_cursor: null,
    },
  },
  errors: [],
} as const satisfies Operation;
