// Package audit tests `reckon audit` as a whole: logs on disk, blobs and tables that were changed in every way that somebody
// with access to them could change them.
package audit
