/** Commands that send a first alert, ready to be pasted into a shell. */

export interface Wanted {
  origin: string;
  /** Left out where none is known: the server then takes its default. */
  alertType: string | undefined;
  authRequired: boolean;
}

const example = 'checkout answers slowly since 9:30';

export function curlCommand({ origin, alertType, authRequired }: Wanted): string {
  const alert = { ...(alertType === undefined ? {} : { alert_type: alertType }), data: example };
  const lines = [
    `curl ${quoted(`${origin}/api/v1/alerts`)}`,
    `-H 'Content-Type: application/json'`,
    ...(authRequired ? ['-H "Authorization: Bearer $TARSY_TOKEN"'] : []),
    `-d ${quoted(JSON.stringify(alert))}`,
  ];
  return lines.join(' \\\n  ');
}

export function submitCommand({ origin, alertType }: Wanted): string {
  const type = alertType === undefined ? '' : ` --type ${quoted(alertType)}`;
  return `tarsy submit --server ${quoted(origin)}${type} \\\n  -m ${quoted(example)}`;
}

/** As one word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
