import { type ObjectRecord, type ParsedField, ServiceError, toShown, WorkspaceObject } from '@decision/contracts';
import { type TakenName } from '@decision/persistence';
import { type ContentField, type ContentProblem } from './schema/parsed-content';

/** An object as answers show it. */
export const toWorkspaceObject = (object: ObjectRecord): WorkspaceObject =>
  toShown(WorkspaceObject, { ...object, schemaType: object.contentType, sourceFormat: 'json' });

/** A field as it is stored and shown in answers. Members are not repeated: the managed collection holds them. */
export const toParsedField = ({ members, valuesName, ...field }: ContentField): ParsedField => ({
  key: field.key,
  name: field.name,
  description: field.description,
  type: field.type,
  scope: field.scope,
  required: field.required,
  schemaPath: field.schemaPath,
  ...(field.derivedObjectName === undefined ? {} : { derivedObjectName: field.derivedObjectName }),
  ...(members === undefined ? {} : { values: (valuesName ?? field.key).normalize('NFC'), members: members.length }),
});

const MAX_SHOWN = 100;

export const objectNotFound = (idOrName: string): ServiceError =>
  new ServiceError('object_not_found', `No object "${idOrName}" is visible to this key.`, { object: idOrName });

export const objectInvalid = (problems: readonly ContentProblem[]): ServiceError => {
  const [first] = problems;
  const place = first === undefined || first.path === '' ? '' : ` (at ${first.path.slice(0, 200)})`;
  const more = problems.length > 1 ? ` And ${problems.length - 1} more, see problems.` : '';
  return new ServiceError('object_invalid', `${first?.message ?? 'The content has a fault.'}${place}${more}`, {
    problems: problems.slice(0, MAX_SHOWN),
  });
};

export const objectNameTaken = (name: string): ServiceError =>
  new ServiceError(
    'object_name_taken',
    `Another object of the workspace, perhaps one that this key does not see, has the name "${name}"; choose another.`,
    { name },
  );

/** `updatedAt` is null if the object does not exist. */
export const objectChanged = (name: string, updatedAt: string | null): ServiceError =>
  new ServiceError(
    'object_changed',
    updatedAt === null
      ? `There is no object "${name}", though "expected_updated_at" expects one.`
      : `The object "${name}" was changed at ${updatedAt}; read it again, then send the change with that time.`,
    { updated_at: updatedAt },
  );

export const valueCollision = (collisions: readonly TakenName[]): ServiceError => {
  const names = collisions.slice(0, 5).map(({ name }) => `"${name}"`);
  const more = collisions.length > 5 ? ` and ${collisions.length - 5} more` : '';
  return new ServiceError(
    'value_collision',
    `Values that this object does not own have names that it would generate: ${names.join(', ')}${more}. Rename or delete them, or give the field another name for its values in the schema, such as "x-values-name": "order_status".`,
    {
      collisions: collisions.slice(0, MAX_SHOWN).map(({ name, id }) => ({ name, existingId: id ?? null })),
      collision_count: collisions.length,
    },
  );
};
