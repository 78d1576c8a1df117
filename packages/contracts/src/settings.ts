import { type Static, type TOptional, type TSchema, Type } from '@sinclair/typebox';
import { described } from './described';
import { type CamelCase, mapFields, memberOf, recordName } from './described-fields';
import { type RecordOf } from './resource';

/** PostgreSQL types of columns that hold settings. */
type ColumnType = 'boolean' | 'integer' | 'json' | 'text' | 'text[]';

/** Description of one setting: a field of a resource that requests and answers describe differently, and that requests can change. */
export interface Setting<S extends TSchema = TSchema> {
  /** The value as stored, answered and sent in messages. */
  readonly schema: S;
  /** The value in a request: the same type within its bounds. */
  readonly request: S;
  /** Meaning for authors of requests, with bounds and default. */
  readonly requestDescription: string;
  readonly answerDescription: string;
  readonly example: Static<S>;
  /** Type of the column, whose name is that of the setting. */
  readonly column: ColumnType;
}

/** A setting that may be omitted when the resource is created. */
interface OptionalSetting<S extends TSchema = TSchema> extends Setting<S> {
  /** The default of the setting. */
  readonly whenAbsent: Static<S>;
}

/** A setting that is required for every new resource. */
export const requiredSetting = <S extends TSchema>(setting: Setting<S>): Setting<S> => setting;

/** A setting with a default. */
export const optionalSetting = <S extends TSchema>(setting: OptionalSetting<S>): OptionalSetting<S> => setting;

/** Settings of one kind of resource, by name. */
export type Settings = Readonly<Record<string, Setting>>;

type SchemaOf<S extends Setting> = S['schema'];
type CreationSchema<S extends Setting> = S extends OptionalSetting ? TOptional<S['schema']> : S['schema'];

/** Settings in rows and answers. */
export type SettingFields<D extends Settings> = { readonly [Name in keyof D]: Static<SchemaOf<D[Name]>> };

type SettingDefaults<D extends Settings> = {
  readonly [Name in keyof D & string as D[Name] extends OptionalSetting ? CamelCase<Name> : never]: Static<
    SchemaOf<D[Name]>
  >;
};

const each = <Result>(
  settings: Settings,
  become: (
    setting: Setting & { readonly whenAbsent?: unknown },
    name: string,
  ) => readonly [string, unknown] | undefined,
): Result => mapFields(settings, become);

/** Properties of a request that creates a resource. */
export const creationFields = <D extends Settings>(settings: D) =>
  each<{ [Name in keyof D]: CreationSchema<D[Name]> }>(settings, (setting, name) => {
    const schema = described(setting.request, setting.requestDescription);
    if (!('whenAbsent' in setting)) return [name, schema];
    return [name, Type.Optional(setting.whenAbsent === null ? schema : { ...schema, default: setting.whenAbsent })];
  });

/** Properties of a request that changes a resource: omitted ones are unchanged. */
export const changeFields = <D extends Settings>(settings: D) =>
  each<{ [Name in keyof D]: TOptional<SchemaOf<D[Name]>> }>(settings, ({ request, requestDescription }, name) => [
    name,
    Type.Optional(described(request, requestDescription)),
  ]);

/** Properties of an answer. */
export const answerFields = <D extends Settings>(settings: D) =>
  each<{ [Name in keyof D]: SchemaOf<D[Name]> }>(settings, ({ schema, answerDescription }, name) => [
    name,
    described(schema, answerDescription),
  ]);

/**
 * Properties of a message. A setting with a default may be missing: a process of the previous release does not send it, and the receiver
 * completes the message with {@link defaultValues}.
 */
export const messageFields = <D extends Settings>(settings: D) =>
  each<{ [Name in keyof D & string as CamelCase<Name>]: CreationSchema<D[Name]> }>(settings, (setting, name) => [
    recordName(name),
    'whenAbsent' in setting ? Type.Optional(setting.schema) : setting.schema,
  ]);

/** The defaults of the settings that have one. */
export const defaultValues = <D extends Settings>(settings: D) =>
  each<SettingDefaults<D>>(settings, (setting, name) =>
    'whenAbsent' in setting ? [recordName(name), setting.whenAbsent] : undefined,
  );

/** Fields of a row under their names in records. */
export const toValues = <D extends Settings>(settings: D, fields: SettingFields<D>) =>
  each<RecordOf<D>>(settings, (_, name) => [recordName(name), memberOf(fields, name)]);

/** Only the described values of a record. */
export const pickValues = <D extends Settings>(settings: D, values: RecordOf<D>) =>
  each<RecordOf<D>>(settings, (_, name) => [recordName(name), memberOf(values, recordName(name))]);

/** The values of a changed resource: those of the request, where null is a value but absence is not, and otherwise the previous ones. */
export const changedValues = <D extends Settings>(
  settings: D,
  request: Partial<SettingFields<D>>,
  before: RecordOf<D>,
) =>
  each<RecordOf<D>>(settings, (_, name) => [
    recordName(name),
    memberOf(request, name) === undefined ? memberOf(before, recordName(name)) : memberOf(request, name),
  ]);
