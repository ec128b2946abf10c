package engine

// Version is the lowest engine version that can continue a session which this engine begins. Raise it with a change
// that makes the engines of earlier releases misread a session's rows: they leave sessions of a higher version alone.
const Version = 1
