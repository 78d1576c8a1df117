import { type ParsedField, type WorkspaceObject } from '@decision/contracts';
import { type ObjectRecord } from '@decision/persistence';
import { type ContentField } from './schema/parsed-content';

/** An object as it is answered. */
export const toWorkspaceObject = (object: ObjectRecord): WorkspaceObject => ({
  id: object.id,
  name: object.name,
  content: object.content,
  content_type: object.contentType,
  schema_type: object.contentType,
  source_format: 'json',
  parsed_fields: [...(object.parsedFields as readonly ParsedField[])], // as toParsedField wrote them
  user_groups: [...object.userGroups],
  created_at: object.createdAt,
  updated_at: object.updatedAt,
});

/** A field as it is stored and answered. Members are not repeated: the managed collection holds them. */
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
