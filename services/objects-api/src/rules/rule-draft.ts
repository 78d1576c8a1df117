import { type RuleImport } from '@decision/contracts';
import { type RuleDraft } from '@decision/persistence';

const EMPTY_DRAFT: RuleDraft = {
  name: 'Untitled rule',
  description: null,
  labels: [],
  folder: null,
  requestSchema: [],
  responseSchema: [],
  conditions: [],
  groups: {},
  settings: {},
  testSuite: [],
  sampleRequest: null,
  sampleResponse: null,
  testRequest: null,
  metadata: {},
  context: null,
};

const DRAFT_FIELDS = Object.keys(EMPTY_DRAFT) as (keyof RuleDraft)[]; // the keys of a literal are its type's keys

/** The fields of an import that change a draft; fields that are absent stay as they are. */
export const draftChanges = (imported: RuleImport): Partial<RuleDraft> =>
  Object.fromEntries(
    DRAFT_FIELDS.filter((field) => imported[field] !== undefined).map((field) => [field, imported[field]]),
  );

/** The draft of a new rule: what the import gives, else nothing. */
export const newDraft = (imported: RuleImport): RuleDraft => ({ ...EMPTY_DRAFT, ...draftChanges(imported) });
