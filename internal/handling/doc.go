// Package handling takes what people do with sessions: who takes care of one, whether it is acknowledged or resolved, and their tags. It
// checks, cleans and masks what they write. It knows neither HTTP nor who may do what.
package handling
