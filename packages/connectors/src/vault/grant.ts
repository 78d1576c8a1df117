import { ConnectorFailure } from '../connector';

/** What the operator lets one workspace read. */
export interface VaultGrant {
  /** Beginnings of names of environment variables, such as `FLOW_SECRET_SALES_`. */
  readonly environment?: readonly string[];
  /** Folders whose files are secrets. */
  readonly files?: readonly string[];
  /** Beginnings of paths in the key-value store, such as `sales/`. */
  readonly keyValue?: readonly string[];
}

/** The same words whether a secret does not exist or is not granted. */
export const notGranted = (name: string): ConnectorFailure =>
  new ConnectorFailure(
    `The secret "${name}" does not exist, or this workspace may not read it; check its name, or ask the operator to grant it.`,
    { outcome: 'refused', details: { secret: name } },
  );
