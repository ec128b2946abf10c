/** Commands that submit a first alert, ready to paste into a shell. */
import { shellQuote } from '@/text/shell';

interface Wanted {
  origin: string;
  /** Omitted if no type is known: the server then uses its default. */
  alertType: string | undefined;
  authRequired: boolean;
}

const example = 'checkout has been slow since 09:30';

export function curlCommand({ origin, alertType, authRequired }: Wanted): string {
  const alert = { ...(alertType === undefined ? {} : { alert_type: alertType }), data: example };
  const lines = [
    `curl ${shellQuote(`${origin}/api/v1/alerts`)}`,
    `-H 'Content-Type: application/json'`,
    ...(authRequired ? ['-H "Authorization: Bearer $TARSY_TOKEN"'] : []),
    `-d ${shellQuote(JSON.stringify(alert))}`,
  ];
  return lines.join(' \\\n  ');
}

export function submitCommand({ origin, alertType }: Wanted): string {
  const type = alertType === undefined ? '' : ` --type ${shellQuote(alertType)}`;
  return `tarsy submit --server ${shellQuote(origin)}${type} \\\n  -m ${shellQuote(example)}`;
}
