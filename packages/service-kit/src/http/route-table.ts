import { type HttpMethod, type PathParameter } from '@decision/contracts';
import { matchesTemplate, parseTemplate, splitPath } from './path-template';

/** A method at a path template. */
interface RouteEntry {
  readonly method: HttpMethod;
  readonly path: string;
  readonly pathParameters?: readonly PathParameter[];
}

/** The methods that are served at a path, upper case, as `Allow` lists them; empty where nothing is served. */
type AllowedMethods = (path: string) => readonly string[];

/** Methods by path, for `Allow`. HEAD goes wherever GET does, and OPTIONS everywhere. */
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
