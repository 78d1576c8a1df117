import { addMembers, type Members } from './members';
import {
  ContentFault,
  type ContentField,
  contentLimits,
  type EnumMember,
  type FieldScope,
  type ParsedFieldType,
} from './parsed-content';

/** Facts about a field from one location in the content. */
interface FieldFacts {
  readonly type: ParsedFieldType | undefined;
  readonly members?: Members | undefined;
  readonly description?: string | undefined;
  readonly title?: string | undefined;
  readonly required: boolean;
  readonly valuesName?: string | undefined;
}

/** A field that may be found several times, in alternatives: the first facts found win, and its members are united. */
class FieldEntry {
  private facts: Omit<FieldFacts, 'members'> | undefined;
  private members: Map<string, EnumMember> | undefined;

  constructor(
    private readonly parts: readonly string[],
    private readonly schemaPath: string,
    private readonly scope: FieldScope,
  ) {}

  add({ members, ...facts }: FieldFacts): void {
    if (members !== undefined) addMembers((this.members ??= new Map<string, EnumMember>()), members);
    const { facts: before } = this;
    this.facts =
      before === undefined
        ? facts
        : {
            type: before.type ?? facts.type,
            description: before.description ?? facts.description,
            title: before.title ?? facts.title,
            required: before.required && facts.required,
            valuesName: before.valuesName ?? facts.valuesName,
          };
  }

  toField(): ContentField {
    const { members } = this;
    const { type = 'object', description = null, title, required = false, valuesName } = this.facts ?? {};
    const last = this.parts.at(-1) ?? '';
    return {
      key: this.parts.join('.'),
      name: title ?? last,
      description,
      type,
      scope: this.scope,
      required,
      schemaPath: this.schemaPath,
      ...(type === 'object' ? { derivedObjectName: pascalCase(title ?? last) } : {}),
      ...(members === undefined || members.size === 0 ? {} : { members: [...members.values()], valuesName }),
    };
  }
}

/** The fields of content, in the order in which they were found. */
export class FieldList {
  private readonly entries = new Map<string, FieldEntry>();

  /** The entry of a path, new or known. Throws a {@link ContentFault} for too many fields, or one too deep. */
  open(parts: readonly string[], schemaPath: string, scope: FieldScope): FieldEntry {
    const key = parts.join('.');
    const known = this.entries.get(key);
    if (known !== undefined) return known;
    if (parts.length > contentLimits.pathParts) {
      throw new ContentFault(schemaPath, `Fields nest deeper than ${contentLimits.pathParts} levels here.`);
    }
    if (this.entries.size >= contentLimits.fields) {
      throw new ContentFault(schemaPath, `There are more than ${contentLimits.fields} fields.`);
    }
    const entry = new FieldEntry(parts, schemaPath, scope);
    this.entries.set(key, entry);
    return entry;
  }

  toArray(): readonly ContentField[] {
    return [...this.entries.values()].map((entry) => entry.toField());
  }
}

const pascalCase = (text: string): string =>
  (text.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
