import { checkFieldSource, type FieldSource, type RuleField, type RuleDraft } from '@decision/contracts';
import { findObjectFields, type ObjectFields, type Transaction } from '@decision/persistence';

/** The source of a field, undefined if it has none, or one of another kind. */
export const sourceOf = ({ source }: RuleField): FieldSource | undefined => {
  if (source === undefined) return undefined;
  const check = checkFieldSource(source);
  return check.ok ? check.value : undefined;
};

/** The object's field that a field of a rule comes from. */
export const sourceField = (field: RuleField, source: FieldSource): string =>
  (source.field ?? field.key).normalize('NFC');

/** The objects behind sources: by id, or, if no object has the id, by name, so that rules can move to another workspace. */
export class SourceObjects {
  private readonly byId: ReadonlyMap<string, ObjectFields>;
  private readonly byName: ReadonlyMap<string, ObjectFields>;

  constructor(objects: readonly ObjectFields[]) {
    this.byId = new Map(objects.map((object) => [object.id, object]));
    this.byName = new Map(objects.map((object) => [object.name, object]));
  }

  find({ object, name }: FieldSource): ObjectFields | undefined {
    return this.byId.get(object.toLowerCase()) ?? this.byName.get((name ?? object).normalize('NFC'));
  }
}

/** Loads the objects behind the sources of these fields, as far as the access sees them. */
export const loadSources = async (transaction: Transaction, fields: readonly RuleField[]): Promise<SourceObjects> => {
  const sources = fields.map(sourceOf).filter((source) => source !== undefined);
  const objects = await findObjectFields(transaction, {
    ids: new Set(sources.map(({ object }) => object)),
    names: new Set(sources.map(({ object, name }) => (name ?? object).normalize('NFC'))),
  });
  return new SourceObjects(objects);
};

type Schemas = Partial<Pick<RuleDraft, 'requestSchema' | 'responseSchema'>>;

/** Sources with the id of their object, so that renaming it changes nothing. Sources that name no visible object stay unchanged. */
export const bindSources = async <S extends Schemas>(transaction: Transaction, schemas: S): Promise<S> => {
  const fields = [...(schemas.requestSchema ?? []), ...(schemas.responseSchema ?? [])];
  if (!fields.some((field) => sourceOf(field) !== undefined)) return schemas;
  const objects = await loadSources(transaction, fields);
  const bind = (field: RuleField): RuleField => {
    const source = sourceOf(field);
    const object = source && objects.find(source);
    return source && object ? { ...field, source: { ...source, object: object.id, name: object.name } } : field;
  };
  return {
    ...schemas,
    ...(schemas.requestSchema && { requestSchema: schemas.requestSchema.map(bind) }),
    ...(schemas.responseSchema && { responseSchema: schemas.responseSchema.map(bind) }),
  };
};
