import { useQuery } from '@tanstack/react-query';
import * as queries from '@/api/queries';
import { Select } from '@/ui/input';
import { type NativeChoices, nativeChoices, nativeTools } from './selection';

const labels = {
  google_search: 'Google search',
  code_execution: 'Code execution',
  url_context: 'URL context',
} as const;

/** The tools that the provider runs. An alert can turn off those that the chain has turned on. */
export function NativeTools({
  alertType,
  chainId,
  choices,
  onChange,
}: {
  alertType: string;
  /** The chain, if it differs from that of the alert type. */
  chainId?: string;
  choices: NativeChoices;
  onChange: (choices: NativeChoices) => void;
}) {
  const { data } = useQuery(queries.defaultTools(alertType, chainId));
  const allowed = nativeTools.filter((tool) => data?.native_tools[tool] || choices[tool] === 'off');
  if (allowed.length === 0) return null;
  return (
    <div className="space-y-2">
      <h3 className="font-medium">Provider tools</h3>
      <p className="text-ink-soft">Used by agents without MCP tools, if their provider supports them.</p>
      <div className="space-y-2">
        {allowed.map((tool) => {
          const texts = { configured: data?.native_tools[tool] ? 'On' : 'As configured', off: 'Off' };
          return (
            <div key={tool} className="flex flex-wrap items-center justify-between gap-2">
              <label htmlFor={`submit-${tool}`}>{labels[tool]}</label>
              <Select
                id={`submit-${tool}`}
                className="w-48"
                value={choices[tool]}
                onChange={(event) => {
                  const chosen = nativeChoices.find((choice) => choice === event.target.value);
                  if (chosen) onChange({ ...choices, [tool]: chosen });
                }}
              >
                {nativeChoices.map((choice) => (
                  <option key={choice} value={choice}>
                    {texts[choice]}
                  </option>
                ))}
              </Select>
            </div>
          );
        })}
      </div>
    </div>
  );
}
