/** How a list holds a value of the workspace as one of its elements. */
export interface ValueReference {
  readonly $rb: 'globalValue';
  readonly id: string;
  /** The name as it was when the list was written; the id counts. */
  readonly name: string;
}

export const isValueReference = (element: unknown): element is ValueReference =>
  typeof element === 'object' &&
  element !== null &&
  '$rb' in element &&
  'id' in element &&
  typeof element.id === 'string';

/** Ids of the values to which a content refers. Only elements of a list can refer, and not those within them. */
export const referencesIn = (content: unknown): readonly string[] =>
  Array.isArray(content) ? content.filter(isValueReference).map(({ id }) => id) : [];

/** The content with what it refers to in the place of the references; what is unknown stays a reference. */
export const resolveContent = (content: unknown, contentOf: ReadonlyMap<string, unknown>): unknown =>
  Array.isArray(content)
    ? content.map((element: unknown) =>
        isValueReference(element) && contentOf.has(element.id) ? contentOf.get(element.id) : element,
      )
    : content;
