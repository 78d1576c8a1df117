import { type HttpMethod, type PathParameter } from '@decision/contracts';

/** A method at a path template. */
interface RouteEntry {
  readonly method: HttpMethod;
  readonly path: string;
  readonly pathParameters?: readonly PathParameter[];
}

/** The methods that are served at a path, upper case, as `Allow` lists them; empty if nothing is served. */
type AllowedMethods = (path: string) => readonly string[];

/** Methods by path, for `Allow`. HEAD is allowed with GET, and OPTIONS everywhere. */
export const createAllowedMethods = (routes: readonly RouteEntry[]): AllowedMethods => {
  const table = routes.map(({ method, path, pathParameters = [] }) => ({
    method: method.toUpperCase(),
    template: parseTemplate(path, pathParameters.at(-1)?.spansSlashes),
  }));
  return (path) => {
    const segments = splitPath(path);
    const methods = new Set(
      table.filter(({ template }) => matchesTemplate(template, segments)).map(({ method }) => method),
    );
    if (methods.size === 0) return [];
    if (methods.has('GET')) methods.add('HEAD');
    return [...methods.add('OPTIONS')];
  };
};

/** A path with parameters in braces, split at its slashes. */
interface PathTemplate {
  readonly text: string;
  /** Literal segments; undefined stands for a parameter. */
  readonly segments: readonly (string | undefined)[];
  /** Whether the last parameter spans the rest of the path, including slashes. */
  readonly isOpen: boolean;
}

export const parseTemplate = (text: string, isOpen = false): PathTemplate => ({
  text,
  segments: splitPath(text).map((segment) => (segment.startsWith('{') ? undefined : segment)),
  isOpen,
});

/** Segments of a path; one trailing slash is ignored. */
const splitPath = (path: string): string[] => {
  const end = path.length > 1 && path.endsWith('/') ? path.length - 1 : path.length;
  return path.slice(1, end).split('/');
};

/** Whether a split path matches this template. A parameter is never empty. */
const matchesTemplate = ({ segments, isOpen }: PathTemplate, path: readonly string[]): boolean =>
  (isOpen ? segments.length <= path.length : segments.length === path.length) &&
  segments.every((segment, index) => (segment === undefined ? path[index] !== '' : segment === path[index]));

/** Orders templates so that a literal segment is tried before a parameter at the same position. */
export const compareTemplates = (a: PathTemplate, b: PathTemplate): number => {
  for (const [index, segment] of a.segments.entries()) {
    const difference = Number(segment === undefined) - Number(b.segments[index] === undefined);
    if (index < b.segments.length && difference !== 0) return difference;
  }
  return 0;
};
