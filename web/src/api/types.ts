/** Short names for the schemas of the server's OpenAPI document. */
import type { components, paths } from './schema';

type Schemas = components['schemas'];

export type Me = Schemas['Me'];
export type SessionItem = Schemas['SessionItem'];
export type SessionDetail = Schemas['SessionDetail'];
export type StageDetail = Schemas['StageDetail'];
export type ExecutionDetail = Schemas['ExecutionDetail'];
export type Severity = SessionItem['severity'];
export type AlertState = Schemas['AlertState'];
export type AlertLink = Schemas['AlertLink'];
export type SuppressedAlert = Schemas['SuppressedAlert'];
export type SuppressionReason = NonNullable<
  NonNullable<paths['/api/v1/suppressed']['get']['parameters']['query']>['reason']
>;
export type Verdict = Schemas['Verdict'];
export type Outcome = Verdict['outcome'];
export type Confidence = Verdict['confidence'];
export type NextStep = Schemas['NextStep'];
export type Claim = Schemas['Claim'];
export type Feedback = Schemas['Feedback'];
export type Handling = Schemas['Handling'];
export type HandlingState = Handling['state'];
export type HandlingRequest = Schemas['HandlingRequest'];
export type SimilarSession = Schemas['SimilarSession'];
export type RerunRequest = Schemas['RerunRequest'];
export type Silence = Schemas['Silence'];
export type SessionStatus = SessionItem['status'];
export type ApprovalRequest = Schemas['ApprovalRequest'];
export type Timeline = Schemas['Timeline'];
export type TimelineEvent = Timeline['events'][number];
export type Usage = Schemas['Usage'];
export type Trace = Schemas['TracePage'];
export type TraceStage = Schemas['TraceStage'];
export type TraceExecution = Schemas['TraceExecution'];
export type LLMInteractionItem = Schemas['LLMInteractionItem'];
export type MCPInteractionItem = Schemas['MCPInteractionItem'];
export type LLMInteraction = Schemas['LLMInteractionDetail'];
export type MCPInteraction = Schemas['MCPInteraction'];
export type TraceMessage = Schemas['TraceMessage'];
export type AlertRequest = Schemas['AlertRequest'];
export type MCPSelection = Schemas['MCPSelection'];
export type MCPServer = Schemas['MCPServer'];
export type DefaultTools = Schemas['DefaultTools'];
export type Tool = Schemas['Tool'];
export type Provider = Schemas['Provider'];
export type Setting = Schemas['Setting'];
export type Health = Schemas['Health'];
export type Warning = Schemas['Warning'];
export type UsageSummary = Schemas['UsageSummary'];
export type Quality = Schemas['Quality'];
export type QualityRow = Schemas['QualityRow'];
export type APIKey = Schemas['APIKey'];

export type Note = Schemas['Note'];
export type NoteDetail = Schemas['NoteDetail'];
export type Entity = Schemas['EntityDetail'];
export type EntitySource = Schemas['EntitySource'];
export type Project = Schemas['ProjectDetail'];
export type Epic = Schemas['Epic'];
export type ReviewItem = Schemas['ReviewDetail'];
export type ReviewDecision = Schemas['ReviewDecision'];
export type ReviewResult = Schemas['ReviewResult'];
export type JobQueue = Schemas['JobQueue'];
export type Job = Schemas['Job'];
