/** A path with parameters in braces, split at its slashes. */
interface PathTemplate {
  readonly text: string;
  /** Literal segments; undefined stands for a parameter. */
  readonly segments: readonly (string | undefined)[];
  /** Whether the last parameter takes what follows it too, slashes and all. */
  readonly isOpen: boolean;
}

export const parseTemplate = (text: string, isOpen = false): PathTemplate => ({
  text,
  segments: splitPath(text).map((segment) => (segment.startsWith('{') ? undefined : segment)),
  isOpen,
});

/** Segments of a path; one trailing slash does not count. */
export const splitPath = (path: string): string[] => {
  const end = path.length > 1 && path.endsWith('/') ? path.length - 1 : path.length;
  return path.slice(1, end).split('/');
};

/** Whether a path, already split, is one of this template. A parameter is never empty. */
export const matchesTemplate = ({ segments, isOpen }: PathTemplate, path: readonly string[]): boolean =>
  (isOpen ? segments.length <= path.length : segments.length === path.length) &&
  segments.every((segment, index) => (segment === undefined ? path[index] !== '' : segment === path[index]));

/** Orders templates so that a literal segment is tried before a parameter at the same place. */
export const compareTemplates = (a: PathTemplate, b: PathTemplate): number => {
  for (const [index, segment] of a.segments.entries()) {
    const difference = Number(segment === undefined) - Number(b.segments[index] === undefined);
    if (index < b.segments.length && difference !== 0) return difference;
  }
  return 0;
};
