import { Secret } from './secret';
import { accepted, defineSetting, refused, type Setting, type SettingOptions, type SettingReading } from './setting';

interface UrlOptions extends SettingOptions<string> {
  /** Accepted protocols without the colon: `['postgres', 'postgresql']`. */
  readonly protocols: readonly string[];
}

/** An address. With `secret: true`, for addresses that carry a password, it is read as a {@link Secret} and never shown. */
export function url(env: string, options: UrlOptions & { readonly secret: true }): Setting<Secret>;
export function url(env: string, options: UrlOptions & { readonly secret?: false }): Setting<string>;
export function url(
  env: string,
  options: UrlOptions & { readonly secret?: boolean },
): Setting<string> | Setting<Secret> {
  const { protocols, meaning } = options;
  const definition = {
    env,
    meaning,
    accepts: `an address that begins with ${protocols.map((name) => `${name}://`).join(' or ')}`,
  };
  const parse = (text: string): SettingReading<string> => checkUrl(text, protocols);
  if (options.secret !== true) return defineSetting({ ...definition, default: options.default, parse });
  return defineSetting({
    ...definition,
    default: options.default === undefined ? undefined : new Secret(options.default),
    secret: true,
    parse: (text) => {
      const reading = parse(text);
      return reading.ok ? accepted(new Secret(reading.value)) : reading;
    },
  });
}

const checkUrl = (text: string, protocols: readonly string[]): SettingReading<string> => {
  if (!URL.canParse(text)) return refused('is not an address');
  const { protocol, hostname } = new URL(text);
  if (!protocols.includes(protocol.slice(0, -1))) return refused('begins with another protocol');
  return hostname === '' && protocol !== 'file:' ? refused('names no host') : accepted(text);
};
